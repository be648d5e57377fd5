/** Reviews: questions posted as objects and answered at once, never stored (who am I, may I, whose token is this). */
import type { Authentication } from './authentication.ts';
import { type JsonObject, objectAt, stringAt, stringsAt } from './json.ts';
import type { AccessQuestion, Rbac } from './rbac.ts';
import { type Caller, callerNamed } from './request.ts';
import type { ServedType } from './served-type.ts';
import { serve } from './type-table.ts';

export interface ReviewOptions {
  readonly authentication: Authentication;
  /** Undefined when everyone may do everything. */
  readonly rbac: Rbac | undefined;
  /** Used to explain answers when RBAC is not enforced too. */
  readonly rules: Rbac;
}

function questionOf(caller: Caller, spec: JsonObject | undefined): AccessQuestion | undefined {
  const attributes = objectAt(spec, 'resourceAttributes');
  if (attributes === undefined) return undefined;
  const namespace = stringAt(attributes, 'namespace');
  return {
    caller,
    verb: stringAt(attributes, 'verb') ?? '',
    group: stringAt(attributes, 'group') ?? '',
    resource: stringAt(attributes, 'resource') ?? '',
    subresource: stringAt(attributes, 'subresource') ?? '',
    namespace: namespace === '' ? undefined : namespace,
    name: stringAt(attributes, 'name') ?? '',
  };
}

/** The review types, served like resources that can only be created. */
export function reviewTypes({ authentication, rbac, rules }: ReviewOptions): ServedType[] {
  const answer = (body: JsonObject, status: JsonObject): JsonObject => ({ ...body, status });
  const access = (caller: Caller, body: JsonObject): JsonObject => {
    const question = questionOf(caller, objectAt(body, 'spec'));
    const allowed = rbac === undefined || question === undefined || rbac.allows(question);
    return answer(body, { allowed, ...(allowed ? { reason: '' } : {}) });
  };
  const review = (
    group: string,
    plural: string,
    kind: string,
    namespaced: boolean,
    make: NonNullable<ServedType['review']>,
  ): ServedType => ({
    ...serve({ group, version: 'v1', plural, kind, namespaced }, { verbs: ['create'] }),
    review: make,
  });
  const subjectOf = (body: JsonObject): Caller =>
    callerNamed(stringAt(body, 'spec', 'user') ?? '', stringsAt(body, 'spec', 'groups'));
  return [
    review('authorization.k8s.io', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview', false, (body, caller) =>
      access(caller, body),
    ),
    review('authorization.k8s.io', 'subjectaccessreviews', 'SubjectAccessReview', false, (body) =>
      access(subjectOf(body), body),
    ),
    review('authorization.k8s.io', 'localsubjectaccessreviews', 'LocalSubjectAccessReview', true, (body) =>
      access(subjectOf(body), body),
    ),
    review('authorization.k8s.io', 'selfsubjectrulesreviews', 'SelfSubjectRulesReview', false, (body, caller) => {
      const isAdmin = caller.groups.includes('system:masters');
      const own = rules.rulesFor(caller, stringAt(body, 'spec', 'namespace'));
      return answer(body, {
        resourceRules: [...(isAdmin ? [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] : []), ...own],
        nonResourceRules: isAdmin ? [{ verbs: ['*'], nonResourceURLs: ['*'] }] : [],
        incomplete: false,
      });
    }),
    review('authentication.k8s.io', 'selfsubjectreviews', 'SelfSubjectReview', false, (body, caller) =>
      answer(body, { userInfo: { username: caller.name, groups: [...caller.groups] } }),
    ),
    review('authentication.k8s.io', 'tokenreviews', 'TokenReview', false, (body) => {
      const caller = authentication.callerOf(stringAt(body, 'spec', 'token') ?? '');
      if (caller === undefined) return answer(body, { user: {}, error: 'invalid bearer token' });
      return answer(body, {
        authenticated: true,
        user: {
          username: caller.name,
          groups: [...caller.groups],
          ...(caller.uid === undefined ? {} : { uid: caller.uid }),
        },
      });
    }),
  ];
}

/**
 * Role-based access control from the Role, ClusterRole and binding objects in the store.
 * Source: kubernetes plugin/pkg/auth/authorizer/rbac and pkg/registry/rbac/validation/rule.go.
 */
import type { Authorize, RequestInfo } from './gate.ts';
import { type JsonObject, objectsAt, stringAt, stringsAt } from './json.ts';
import type { Reader } from './reader.ts';
import type { Caller } from './request.ts';
import type { ApiObject, ServedType } from './served-type.ts';
import { forbidden } from './status-error.ts';
import type { TypeRegistry } from './type-registry.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Empty names and subresources stand for none; `namespace` undefined for the whole cluster. */
export interface AccessQuestion {
  readonly caller: Caller;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Reads the roles anew for every question, so a change is in force with the next call. */
export interface Rbac {
  /** The group system:masters may do everything, whatever the roles say. */
  allows(question: AccessQuestion): boolean;
  /** Rules that apply to the caller in a namespace, for SelfSubjectRulesReview. */
  rulesFor(caller: Caller, namespace: string | undefined): readonly JsonObject[];
}

function isSubject(subject: JsonObject, caller: Caller, bindingNamespace: string | undefined): boolean {
  const name = stringAt(subject, 'name') ?? '';
  switch (subject['kind']) {
    case 'User':
      return caller.name === name;
    case 'Group':
      return caller.groups.includes(name);
    case 'ServiceAccount':
      return (
        caller.name === `system:serviceaccount:${stringAt(subject, 'namespace') ?? bindingNamespace ?? ''}:${name}`
      );
    default:
      return false;
  }
}

function ruleAllows(rule: JsonObject, { verb, group, resource, subresource, name }: AccessQuestion): boolean {
  const has = (field: string, ...wanted: readonly string[]): boolean => {
    const values = stringsAt(rule, field);
    return values.includes('*') || wanted.some((value) => values.includes(value));
  };
  const path = subresource === '' ? resource : `${resource}/${subresource}`;
  const names = stringsAt(rule, 'resourceNames');
  return (
    has('verbs', verb) &&
    has('apiGroups', group) &&
    has('resources', path, ...(subresource === '' ? [] : [`*/${subresource}`])) &&
    (names.length === 0 || names.includes(name))
  );
}

/** Bindings to roles that do not exist allow nothing. */
export function createRbac(reader: Reader, registry: TypeRegistry): Rbac {
  const typeOf = (plural: string): ServedType | undefined => registry.find(RBAC_GROUP, 'v1', plural);

  const rulesOf = (binding: ApiObject): JsonObject[] => {
    const kind = stringAt(binding, 'roleRef', 'kind');
    const name = stringAt(binding, 'roleRef', 'name') ?? '';
    const type = typeOf(kind === 'ClusterRole' ? 'clusterroles' : 'roles');
    if (type === undefined) return [];
    const role = reader.find(type, type.namespaced ? binding.metadata.namespace : undefined, name);
    return role === undefined ? [] : objectsAt(role, 'rules');
  };

  const rulesFor = (caller: Caller, namespace: string | undefined): JsonObject[] => {
    const bindings: ApiObject[] = [];
    const clusterBindings = typeOf('clusterrolebindings');
    if (clusterBindings !== undefined) bindings.push(...reader.list(clusterBindings, {}).items);
    const roleBindings = typeOf('rolebindings');
    if (namespace !== undefined && roleBindings !== undefined)
      bindings.push(...reader.list(roleBindings, { namespace }).items);
    return bindings
      .filter((binding) =>
        objectsAt(binding, 'subjects').some((subject) => isSubject(subject, caller, binding.metadata.namespace)),
      )
      .flatMap(rulesOf);
  };

  return {
    rulesFor,
    allows(question) {
      const { caller, namespace } = question;
      if (caller.groups.includes('system:masters')) return true;
      return rulesFor(caller, namespace).some((rule) => ruleAllows(rule, question));
    },
  };
}

/** The refusal as the real server words it. */
export function accessRefusal({ caller, verb, group, resource, subresource, namespace, name }: AccessQuestion): Error {
  const path = subresource === '' ? resource : `${resource}/${subresource}`;
  const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return forbidden(
    { group, plural: resource },
    name,
    `User ${JSON.stringify(caller.name)} cannot ${verb} resource ${JSON.stringify(path)} in API group ${JSON.stringify(group)} ${scope}`,
  );
}

/**
 * A named Namespace is asked about as if it were in itself: a Role there may allow to get it (apiserver
 * pkg/endpoints/request/requestinfo.go).
 */
function namespaceItself({ group, plural }: Pick<ServedType, 'group' | 'plural'>, name: string): string | undefined {
  return group === '' && plural === 'namespaces' && name !== '' ? name : undefined;
}

/** Refuses with 403 in the words of the real server. */
export function createAuthorize(rbac: Rbac): Authorize {
  return ({ caller, verb, type, namespace, name, selectedName, subresource }: RequestInfo) => {
    // Everyone who is known may ask what he may do.
    if (type.review !== undefined && type.plural.startsWith('selfsubject')) return;
    const question = {
      caller,
      verb,
      group: type.group,
      resource: type.plural,
      subresource,
      namespace: type.namespaced ? namespace : namespaceItself(type, name),
      name: name === '' ? (selectedName ?? '') : name,
    };
    if (!rbac.allows(question)) throw accessRefusal(question);
  };
}

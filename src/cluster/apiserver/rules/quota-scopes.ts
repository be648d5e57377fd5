/** Which pods a resource quota speaks of, by its scopes. Source: kubernetes pkg/quota/v1/evaluator/core/pods.go, pkg/apis/core/validation. */
import { type FieldError, invalidField } from '../field-errors.ts';
import { type JsonObject, objectAt, objectsAt, stringAt, stringsAt, valueAt } from '../json.ts';
import type { ApiObject } from '../served-type.ts';
import { qosClassOf } from './pod-qos.ts';

const KNOWN = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];
const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

interface ScopeTerm {
  readonly scope: string;
  readonly operator: string;
  readonly values: readonly string[];
}

function termsOf(quota: ApiObject): ScopeTerm[] {
  return [
    ...stringsAt(quota, 'spec', 'scopes').map((scope) => ({ scope, operator: 'Exists', values: [] })),
    ...objectsAt(quota, 'spec', 'scopeSelector', 'matchExpressions').map((expression) => ({
      scope: stringAt(expression, 'scopeName') ?? '',
      operator: stringAt(expression, 'operator') ?? '',
      values: stringsAt(expression, 'values'),
    })),
  ];
}

/** Whether the pod counts against the quota: each of its scopes must hold. */
export function isInScope(pod: ApiObject, quota: ApiObject): boolean {
  return termsOf(quota).every((term) => holds(pod, term));
}

function holds(pod: ApiObject, { scope, operator, values }: ScopeTerm): boolean {
  const spec = objectAt(pod, 'spec');
  switch (scope) {
    case 'Terminating':
      return valueAt(spec, 'activeDeadlineSeconds') !== undefined;
    case 'NotTerminating':
      return valueAt(spec, 'activeDeadlineSeconds') === undefined;
    case 'BestEffort':
      return qosClassOf(spec) === 'BestEffort';
    case 'NotBestEffort':
      return qosClassOf(spec) !== 'BestEffort';
    case 'CrossNamespacePodAffinity':
      return reachesOtherNamespaces(spec);
    case 'PriorityClass': {
      const name = stringAt(spec, 'priorityClassName') ?? '';
      if (operator === 'In') return values.includes(name);
      if (operator === 'NotIn') return !values.includes(name);
      return (name !== '') === (operator === 'Exists');
    }
    default:
      return false;
  }
}

function reachesOtherNamespaces(spec: JsonObject | undefined): boolean {
  const rules = ['podAffinity', 'podAntiAffinity'].flatMap((kind) => [
    ...objectsAt(spec, 'affinity', kind, 'requiredDuringSchedulingIgnoredDuringExecution'),
    ...objectsAt(spec, 'affinity', kind, 'preferredDuringSchedulingIgnoredDuringExecution').flatMap((each) => [
      objectAt(each, 'podAffinityTerm') ?? {},
    ]),
  ]);
  return rules.some((rule) => stringsAt(rule, 'namespaces').length > 0 || rule['namespaceSelector'] !== undefined);
}

/** Errors of a quota's scopes, as the API server words them. */
export function validateScopes(quota: ApiObject): FieldError[] {
  const scopes = stringsAt(quota, 'spec', 'scopes');
  const resources = Object.keys(objectAt(quota, 'spec', 'hard') ?? {});
  const error = (detail: string): FieldError => invalidField('spec.scopes', scopes, detail);
  return [
    ...scopes.flatMap((scope) => {
      if (!KNOWN.includes(scope)) return [error('unsupported scope')];
      const countsPodsOnly = scope === 'BestEffort';
      return countsPodsOnly && resources.some((each) => each !== 'pods' && each !== 'count/pods')
        ? [error('unsupported scope applied to resource')]
        : [];
    }),
    ...(CONFLICTS.some((pair) => pair.every((each) => scopes.includes(each))) ? [error('conflicting scopes')] : []),
  ];
}

/** Which ResourceQuotas count a pod. Source: kubernetes pkg/quota/v1/evaluator/core/pods.go (podMatchesScopeFunc). */
import type { PodSizing } from './sizing-records.ts';

/** What a pod is told apart by. */
export type QuotaSubject = Pick<PodSizing, 'qos' | 'priorityClassName' | 'hasDeadline'>;

/**
 * Whether a quota of these scopes counts the pod; each must match. Scopes as the projection writes them: a name, or a
 * name with operator and values, `PriorityClass In a,b`. One that is not known counts: better wait for room than be
 * refused.
 */
export function countsIn(scopes: readonly string[] | undefined, pod: QuotaSubject): boolean {
  return (scopes ?? []).every((scope) => matches(scope, pod) !== false);
}

/** As {@link countsIn}, and every scope is one that is known. */
export function surelyCountsIn(scopes: readonly string[] | undefined, pod: QuotaSubject): boolean {
  return (scopes ?? []).every((scope) => matches(scope, pod) === true);
}

/** Undefined for a scope that is not known. */
function matches(scope: string, { qos, priorityClassName, hasDeadline }: QuotaSubject): boolean | undefined {
  const [name, operator, values = ''] = scope.split(' ');
  switch (name) {
    case 'BestEffort':
      return qos === 'BestEffort';
    case 'NotBestEffort':
      return qos !== 'BestEffort';
    case 'Terminating':
      return hasDeadline === true;
    case 'NotTerminating':
      return hasDeadline !== true;
    case 'PriorityClass':
      return matchesClass(priorityClassName, operator, values.split(','));
    default:
      return undefined;
  }
}

function matchesClass(priorityClass: string, operator: string | undefined, values: readonly string[]): boolean {
  switch (operator) {
    case 'In':
      return values.includes(priorityClass);
    case 'NotIn':
      return !values.includes(priorityClass);
    case 'Exists':
      return priorityClass !== '';
    case 'DoesNotExist':
      return priorityClass === '';
    default:
      return true;
  }
}

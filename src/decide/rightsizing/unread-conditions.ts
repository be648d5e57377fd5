/**
 * The conditions of a policy while the cluster cannot be read: what was known stays, and what is missing is told.
 * Property 28.
 */
import type { PolicyCondition } from '../../api/optimization-policy-status.ts';
import { type Reason, reason } from '../../lib/reasons.ts';
import { formatTime } from '../../lib/rfc3339.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { PolicyRecord } from '../../model/optimization-policy.ts';

/** What cannot be read. */
export interface UnreadCluster {
  /** Names of types, e.g. `statefulSets, pods`. */
  readonly what: string;
  /** What the API server said about the first of them. */
  readonly cause: string;
  /** It said that a right is missing. */
  readonly isForbidden: boolean;
}

/**
 * `Degraded` is True, and `PermissionsSufficient` False where a right is missing; the others say what they said.
 * @param previous what the object has now.
 */
export function unreadConditions(
  { namespace, name, generation }: Pick<PolicyRecord, 'namespace' | 'name' | 'generation'>,
  { what, cause, isForbidden }: UnreadCluster,
  previous: readonly PolicyCondition[],
  now: EpochMillis,
): PolicyCondition[] {
  const condition = (type: PolicyCondition['type'], status: 'True' | 'False', why: Reason): PolicyCondition => {
    const before = previous.find((each) => each.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(now);
    const message = `${why.message}. Suggestion: ${why.advice}`;
    return { type, status, observedGeneration: generation, lastTransitionTime, reason: why.name, message };
  };
  const told = [
    ...(isForbidden ? [condition('PermissionsSufficient', 'False', reason('ReadForbidden', { what, cause }))] : []),
    condition('Degraded', 'True', reason('DiscoveryFailed', { namespace, name, cause: `${what}: ${cause}` })),
  ];
  return [...previous.filter(({ type }) => told.every((each) => each.type !== type)), ...told];
}

/**
 * The conditions of a policy while the cluster cannot be read: what was known stays, and what is missing is told.
 * Property 28.
 */
import type { PolicyCondition } from '../../api/optimization-policy-status.ts';
import { type Reason, reason } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { PolicyRecord } from '../../model/optimization-policy.ts';
import { policyCondition } from './policy-condition.ts';

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
  const frame = { generation, previous, now };
  const condition = (type: PolicyCondition['type'], isTrue: boolean, why: Reason): PolicyCondition =>
    policyCondition({ type, isTrue, why, isWell: false }, frame);
  const told = [
    ...(isForbidden ? [condition('PermissionsSufficient', false, reason('ReadForbidden', { what, cause }))] : []),
    condition('Degraded', true, reason('DiscoveryFailed', { namespace, name, cause: `${what}: ${cause}` })),
  ];
  return [...previous.filter(({ type }) => told.every((each) => each.type !== type)), ...told];
}

/** One condition of a policy, and since when it says what it says. */
import type { PolicyCondition } from '../../api/optimization-policy-status.ts';
import type { Reason } from '../../lib/reasons.ts';
import { formatTime } from '../../lib/rfc3339.ts';
import type { EpochMillis } from '../../lib/units.ts';

/** What is to be told. */
export interface ConditionState {
  readonly type: PolicyCondition['type'];
  readonly isTrue: boolean;
  readonly why: Reason;
  /** Nobody has to do anything; else the message says what. */
  readonly isWell: boolean;
}

export interface ConditionFrame {
  /** Generation of the policy it is about. */
  readonly generation: number;
  /** What the object has now: the time of a condition only changes with its status, as metav1.Condition has it. */
  readonly previous: readonly PolicyCondition[];
  readonly now: EpochMillis;
}

export function policyCondition(
  { type, isTrue, why, isWell }: ConditionState,
  { generation, previous, now }: ConditionFrame,
): PolicyCondition {
  const status = isTrue ? 'True' : 'False';
  const before = previous.find((each) => each.type === type);
  return {
    type,
    status,
    observedGeneration: generation,
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : formatTime(now),
    reason: why.name,
    message: isWell ? why.message : `${why.message}. Suggestion: ${why.advice}`,
  };
}

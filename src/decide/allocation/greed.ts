/**
 * Which pods would eat everything: those of low weight that use all they get, tick after tick, while others want more. Only
 * they get a ceiling by default; weights alone do not hold back two threads that never sleep.
 */
import type { Measurement } from './demand.ts';
import type { GreedMemory } from './node-input.ts';
import type { GreedyRules } from './rules.ts';

export interface GreedQuestion {
  readonly measured: Measurement | undefined;
  readonly share: number;
  /** The ceiling in force; undefined: none. */
  readonly limit: number | undefined;
  /** Weight against the highest among the others. */
  readonly power: 'low' | 'equal' | 'high';
  /** Wants on the node exceed its capacity, so somebody goes short. */
  readonly isCongested: boolean;
  readonly isBatch: boolean;
  readonly isLatencySensitive: boolean;
}

const MOSTLY_THROTTLED = 0.5;
const noGreed: GreedMemory = { ticksAtShare: 0, isGreedy: false, calmTicks: 0 };
/** A pod that is as important as the others must insist longer, so that a burst is not taken for greed. */
const EQUAL_PATIENCE = 3;

export function nextGreed(previous: GreedMemory | undefined, question: GreedQuestion, rules: GreedyRules): GreedMemory {
  const before = previous ?? noGreed;
  const { measured, share, limit, power, isBatch } = question;
  if (measured === undefined) return before;
  if (question.isLatencySensitive) return noGreed;
  const isAtShare = measured.usage >= rules.atShare * share || (measured.throttledRatio ?? 0) > MOSTLY_THROTTLED;
  const ticksAtShare = isAtShare ? before.ticksAtShare + 1 : 0;
  if (before.isGreedy) {
    const isCalm = measured.usage < rules.releaseBelow * (limit ?? share) && !isAtShare;
    const calmTicks = isCalm ? before.calmTicks + 1 : 0;
    return calmTicks >= rules.releaseTicks ? noGreed : { ticksAtShare, isGreedy: true, calmTicks };
  }
  const patience = isBatch ? 1 : power === 'low' ? rules.ticks : EQUAL_PATIENCE * rules.ticks;
  const mayBe = power !== 'high' || isBatch;
  return { ticksAtShare, isGreedy: mayBe && question.isCongested && ticksAtShare >= patience, calmTicks: 0 };
}

/**
 * Which pods would eat everything: those of low weight that use all they get, tick after tick, while others want more.
 * Only they get a ceiling by default; weights alone do not hold back two threads that never sleep.
 */
import type { Measurement } from './demand.ts';
import type { GreedMemory } from './node-input.ts';
import type { GreedyRules } from './rules.ts';

/** One pod at one tick, shares and limits in millicores. */
export interface GreedQuestion {
  readonly measured: Measurement | undefined;
  readonly share: number;
  /** The ceiling in force; undefined: none. */
  readonly limit: number | undefined;
  readonly standing: Standing;
  /**
   * The limit in force is one of ours, by what the pod had at first: so it was found greedy before whoever asks was
   * started.
   */
  readonly hasCeiling: boolean;
  /** Wants on the node exceed its capacity, so somebody goes short. */
  readonly isCongested: boolean;
  readonly isBatch: boolean;
  readonly isLatencySensitive: boolean;
  /** Not found greedy yet, however much it uses; what it uses counts all the same. */
  readonly isComingUp: boolean;
}

const MOSTLY_THROTTLED = 0.5;
const noGreed: GreedMemory = { ticksAtShare: 0, isGreedy: false, calmTicks: 0 };
const knownGreed: GreedMemory = { ...noGreed, isGreedy: true };

/**
 * One tick. Slow to suspect and slower to release: a ceiling on a service costs it its replies, and a limit added in
 * place can be raised later but never taken away. Latency-sensitive pods are never found greedy.
 */
export function nextGreed(previous: GreedMemory | undefined, question: GreedQuestion, rules: GreedyRules): GreedMemory {
  const before = previous ?? (question.hasCeiling ? knownGreed : noGreed);
  const { measured, share, limit, standing, isBatch } = question;
  if (measured === undefined) return before;
  if (question.isLatencySensitive) return noGreed;
  const isAtShare = measured.usage >= rules.atShare * share || (measured.throttledRatio ?? 0) > MOSTLY_THROTTLED;
  // One that needs just what it has is not greedy: it neither waits for more nor takes what others leave.
  const wantsMore =
    measured.pressure === undefined ||
    measured.pressure > rules.pressure ||
    measured.usage > rules.beyondShare * share ||
    (measured.throttledRatio ?? 0) > MOSTLY_THROTTLED;
  const ticksAtShare = isAtShare ? before.ticksAtShare + 1 : 0;
  if (before.isGreedy) {
    const isCalm = measured.usage < rules.releaseBelow * (limit ?? share) && !isAtShare;
    const calmTicks = isCalm ? before.calmTicks + 1 : 0;
    return calmTicks >= rules.releaseTicks ? noGreed : { ticksAtShare, isGreedy: true, calmTicks };
  }
  const patience = isBatch ? 1 : patienceOf(standing) * rules.ticks;
  const isJudged = question.isCongested && !question.isComingUp;
  return { ticksAtShare, isGreedy: isJudged && wantsMore && ticksAtShare >= patience, calmTicks: 0 };
}

/** A pod among those that are at their share: the contenders. */
export interface Standing {
  /** `lowest`: nobody of less weight contends, and somebody on the node has more. `equal`: all have the same. */
  readonly weight: 'lowest' | 'equal' | 'higher';
  /** No contender has been at its share for longer. */
  readonly isLongest: boolean;
}

/**
 * In multiples of the usual: a pod as important as the others, and one that came later, must insist, as a burst passes.
 */
function patienceOf({ weight, isLongest }: Standing): number {
  if (weight === 'higher') return Number.POSITIVE_INFINITY;
  return (weight === 'lowest' ? 1 : 3) * (isLongest ? 1 : 4);
}

export interface Contender {
  readonly weight: number;
  readonly ticksAtShare: number;
}

/** The extremes of a node's pods: what each of them stands against. */
export interface Field {
  /** Of those that contend; Infinity where nobody does. */
  readonly leastWeight: number;
  /** Of all. */
  readonly mostWeight: number;
  readonly mostTicks: number;
}

/** `all`: every pod that takes part; those with ticks contend. */
export function fieldOf(all: readonly Contender[]): Field {
  let [leastWeight, mostWeight, mostTicks] = [Number.POSITIVE_INFINITY, 0, 0];
  for (const { weight, ticksAtShare } of all) {
    if (ticksAtShare > 0) leastWeight = Math.min(leastWeight, weight);
    mostWeight = Math.max(mostWeight, weight);
    mostTicks = Math.max(mostTicks, ticksAtShare);
  }
  return { leastWeight, mostWeight, mostTicks };
}

/** Of one of them. */
export function standingOf(
  { weight, ticksAtShare }: Contender,
  { leastWeight, mostWeight, mostTicks }: Field,
): Standing {
  const isLowest = leastWeight >= weight;
  return {
    weight: !isLowest ? 'higher' : mostWeight > weight ? 'lowest' : 'equal',
    isLongest: mostTicks <= ticksAtShare,
  };
}

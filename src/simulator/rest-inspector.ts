/** Looks at workloads at rest every hour and at the end, when somebody leads who could act on them or explain them. */
import type { Clock } from '../lib/clock.ts';
import { isSameList } from '../lib/same-list.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { explainRest, explainSizes, isLed } from './explain-rest.ts';
import type { Judge } from './judge.ts';
import type { SimulatedOperator } from './operator-port.ts';

export interface RestInspectorOptions {
  readonly clock: Clock;
  readonly endsAt: EpochMillis;
  readonly judge: Judge;
  readonly replicas: () => Iterable<SimulatedOperator>;
  /** Whether the operator cannot be expected to work now, its API being out of order. */
  readonly isDisturbed: () => boolean;
  /** Where allocation is on: called at every look, with since when one operator has led undisturbed. */
  readonly judgeReturned?: (calmSince: EpochMillis) => void;
}

const INTERVAL_MILLIS: Millis = 3_600_000;
/** Time to act, after a fault of the API or the loss of a leader. */
const RECOVERY_MILLIS: Millis = 120_000;
/** What keeps a pod from its size is told at every look of a policy, five minutes apart or less. */
const TOLD_MILLIS: Millis = 900_000;
/** A lease, and a new process on fresh data, take less than two recoveries; then missing leadership is no excuse. */
const LEADERLESS_LOOKS = 2;

/** Returns the look, to be taken every now and then. */
export function createRestInspector(options: RestInspectorOptions): () => void {
  const { clock, endsAt, judge, replicas, isDisturbed } = options;
  let leaderless = 0;
  let dueAt = Math.min(clock.now() + INTERVAL_MILLIS, endsAt);
  let calmSince = clock.now();
  let team: readonly SimulatedOperator[] = [];
  const lookAtReturned = (): void => {
    const now = [...replicas()];
    if (!isSameList(now, team) || isDisturbed() || !isLed(judge.fleet.workloads(), now)) calmSince = clock.now();
    team = now;
    options.judgeReturned?.(calmSince);
  };
  return () => {
    if (options.judgeReturned !== undefined) lookAtReturned();
    if (clock.now() < dueAt) return;
    const isLeaderless = !isLed(judge.fleet.workloads(), replicas());
    leaderless = isLeaderless ? leaderless + 1 : 0;
    if (isDisturbed() || (isLeaderless && leaderless <= LEADERLESS_LOOKS)) {
      dueAt = clock.now() + RECOVERY_MILLIS;
      return;
    }
    const next = clock.now() + INTERVAL_MILLIS;
    dueAt = clock.now() < endsAt ? Math.min(next, endsAt) : next;
    judge.judgeRest(
      (facts) => explainRest(facts, replicas()),
      (facts) => explainSizes(facts, replicas(), TOLD_MILLIS),
    );
  };
}

/**
 * Holds placement to getting somewhere: moves that each may be made, and each come to nothing, must come ever more rarely. What
 * explains an eviction (eviction-bound.ts) may be brought about by the one before it, for ever; this asks whether anything was gained.
 */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import type { Ledger } from './ledger.ts';

export interface ProgressJudge {
  /** Others changed what one workload, or all, can have or should be: whatever failed before may be tried anew. */
  onCause(workloadUid?: string): void;
  /** The workload is about to change: up to now it was like this. */
  beforeChange(facts: WorkloadFacts): void;
  /** Stowage had a pod of it evicted or deleted, for placement. */
  replaced(facts: WorkloadFacts, podUid: string): void;
  /** A pod of it went, whoever wanted that. */
  podGone(facts: WorkloadFacts, podUid: string): void;
}

interface Stretch {
  /** Causes there had been. */
  readonly cause: number;
  readonly since: EpochMillis;
  /** How far from its aim it was then. */
  readonly first: number;
  least: number;
  replaced: number;
}

const HOUR: Millis = 3_600_000;
/** Pauses double from a minute or less to an hour; what failed on one side may be tried on the other. */
const MOST_AT_FIRST = 24;
const MOST_PER_HOUR = 6;

export function createProgressJudge(clock: Pick<Clock, 'now'>, { check }: Pick<Ledger, 'check'>): ProgressJudge {
  const stretches = new Map<string, Stretch>();
  const causes = new Map<string, number>();
  /** Pods that go because Stowage wanted it. */
  const going = new Set<string>();
  let causesOfAll = 0;

  const stretchOf = (facts: WorkloadFacts): Stretch => {
    const cause = causesOfAll + (causes.get(facts.uid) ?? 0);
    const known = stretches.get(facts.uid);
    if (known?.cause === cause) return known;
    const distance = distanceOf(facts);
    const begun = { cause, since: clock.now(), first: distance, least: distance, replaced: 0 };
    stretches.set(facts.uid, begun);
    return begun;
  };
  const onCause = (uid?: string): void => {
    if (uid === undefined) causesOfAll++;
    else causes.set(uid, (causes.get(uid) ?? 0) + 1);
  };

  return {
    onCause,
    beforeChange(facts) {
      const stretch = stretchOf(facts);
      stretch.least = Math.min(stretch.least, distanceOf(facts));
    },
    replaced(facts, podUid) {
      going.add(podUid);
      const stretch = stretchOf(facts);
      stretch.replaced++;
      const futile = stretch.replaced - (stretch.first - stretch.least);
      const hours = (clock.now() - stretch.since) / HOUR;
      check(
        'progress',
        futile <= MOST_AT_FIRST + MOST_PER_HOUR * hours,
        () =>
          `${facts.key}: ${stretch.replaced} pods replaced in ${hours.toFixed(1)} hours in which nobody else changed anything; ` +
          `it was ${stretch.first} steps from its mix, and got to ${stretch.least}`,
      );
    },
    podGone({ uid }, podUid) {
      if (!going.delete(podUid)) onCause(uid);
    },
  };
}

/** In steps: a pod that runs nowhere is to be placed, and one on the wrong side to be moved, which is to be placed again. */
function distanceOf({ replicas, targetSpot, counts: { live, spot, onDemand } }: WorkloadFacts): number {
  const wrong = Math.max(0, spot - targetSpot) + Math.max(0, onDemand - (replicas - targetSpot));
  const nowhere = Math.max(0, live - spot - onDemand) + Math.max(0, replicas - live);
  return wrong + 2 * nowhere;
}

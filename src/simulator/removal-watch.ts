/** Follows removals of pods that the operator asks for, until it is known whether they were done. */
import type { Pod } from '../api/core.ts';
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { FleetWatch, WorkloadFacts } from './fleet-watch.ts';
import type { PodFacts } from './pod-facts.ts';
import type { SettleWrite } from './watched-api.ts';

/** An eviction or a deletion. */
export interface Removal {
  readonly pod: Pod;
  readonly uid: string;
  /** Whose it is; undefined: a stranger's. */
  readonly facts: WorkloadFacts | undefined;
  /** The pod as it was when its removal was asked for. */
  readonly seen: PodFacts | undefined;
}

export interface RemovalListener {
  before(removal: Removal): void;
  /** @param at when the answer, or that it is lost, was known to who asked */
  onDone(removal: Removal, at: EpochMillis): void;
  /** After {@link onDone}, where who asked was told. */
  onToldDone(removal: Removal): void;
}

export interface RemovalWatchOptions {
  readonly clock: Clock;
  readonly fleet: Pick<FleetWatch, 'workloadOfPod'>;
  /** Whether answers may be lost now. */
  readonly isDisturbed: () => boolean;
  readonly listener: RemovalListener;
}

/** The cluster's caches have seen within it what a write did. */
const SEEN_MILLIS: Millis = 10;

/** @returns what is to be called in the moment before each removal. */
export function watchRemovals({ clock, fleet, isDisturbed, listener }: RemovalWatchOptions): (pod: Pod) => SettleWrite {
  return (pod) => {
    const uid = pod.metadata?.uid ?? '';
    const facts = fleet.workloadOfPod(uid);
    const removal = { pod, uid, facts, seen: facts?.pods.get(uid) };
    listener.before(removal);
    return ({ kind }) => {
      const at = clock.now();
      if (kind === 'done') {
        listener.onDone(removal, at);
        listener.onToldDone(removal);
        return;
      }
      // Done twice, it is refused the second time.
      const mayBeDone = kind === 'unknown' || (isDisturbed() && removal.seen?.isLive === true);
      if (mayBeDone) clock.setTimer(SEEN_MILLIS, () => isGoing(removal) && listener.onDone(removal, at));
    };
  };
}

/** Whoever asked; that of a removal without an answer is taken to be it. */
function isGoing({ uid, facts }: Removal): boolean {
  return facts?.pods.get(uid)?.isTerminating !== false;
}

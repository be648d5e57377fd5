/**
 * What disruption did so far, per workload: the last one, and the moves that found no place. No I/O; fed by whoever
 * acts. Kept in memory only: a new leader knows no more of it than pods show that wait in vain, and so waits one
 * cooldown first (hazard H28; rule `leader-warm-up`).
 */
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { Side } from '../model/records.ts';
import {
  createSteeringLog,
  type DoublingPause,
  pauseAfter,
  type SteeringHistory,
  type SteeringLog,
} from './steering-history.ts';

/**
 * A side that had no place for a workload, and is left alone for a while: the memory of failed moves (descheduler#785).
 */
export interface FailedMove {
  /** In a row, at least 1; a move that lands sets it back. */
  readonly failures: number;
  readonly retryAt: EpochMillis;
}

/** What guards read. */
export interface DisruptionHistory {
  /** By any engine; undefined where none is remembered. */
  lastDisruption(workloadUid: string): EpochMillis | undefined;
  /** The last move of this workload to this side found no place; still answered when `retryAt` has passed. */
  failedMove(workloadUid: string, side: Side): FailedMove | undefined;
  /** When pods of the workload went back to spot, oldest first; at least the last {@link REMEMBERED_RETURNS}. */
  returns(workloadUid: string): readonly EpochMillis[];
  /** Of moves of all workloads together. */
  readonly steering: SteeringHistory;
}

/** What is written. An eviction without an answer counts, too: it may have happened. */
export interface DisruptionLog extends DisruptionHistory {
  readonly steering: SteeringLog;
  /** The latest instant wins, in whatever order several disruptions of a workload are told. */
  recordDisruption(workloadUid: string, at: EpochMillis): void;
  /** Doubles the pause before the side is tried again. */
  recordFailedMove(workloadUid: string, side: Side, at: EpochMillis): void;
  /** The side took a pod: its failures are forgotten. */
  recordLandedMove(workloadUid: string, side: Side): void;
  /** A pod that covered for spot goes back. */
  recordReturn(workloadUid: string, at: EpochMillis): void;
  /**
   * The workload is gone, or its type is not served at present, and then it comes back as it was: what is remembered of
   * it goes a day later, counted from the last that is told of it.
   */
  forgetWorkload(workloadUid: string, at: EpochMillis): void;
}

/** As many as the configuration allows in one window: with fewer, a window of more returns could not be counted. */
const REMEMBERED_RETURNS = 1000;
const noReturns: readonly EpochMillis[] = [];
/** Longer than any cooldown or window that makes sense. */
const KEPT_MILLIS: Millis = 86_400_000;

/** Of the whole cluster one pod is moved: soon enough that a webhook which is mended is not waited for. */
const FIRST_TRY_MILLIS: Millis = 60_000;

export function createDisruptionLog(backoff: DoublingPause): DisruptionLog {
  const last = new Map<string, EpochMillis>();
  const failed = new Map<string, { -readonly [S in Side]?: FailedMove }>();
  const returned = new Map<string, EpochMillis[]>();
  /** When workloads were last seen to go, or told of since; the earliest first. */
  const gone = new Map<string, EpochMillis>();
  /** It came back, or an answer came late: in both cases what is told now must not go with what was before. */
  const keepAnew = (workloadUid: string, at: EpochMillis): void => {
    if (gone.delete(workloadUid)) gone.set(workloadUid, at);
  };
  const initial = Math.min(backoff.initial, FIRST_TRY_MILLIS);
  const steering = createSteeringLog({ ...backoff, initial });
  return {
    steering,
    returns: (workloadUid) => returned.get(workloadUid) ?? noReturns,
    recordReturn(workloadUid, at) {
      const instants = returned.get(workloadUid) ?? [];
      instants.push(at);
      if (instants.length > REMEMBERED_RETURNS) instants.shift();
      returned.set(workloadUid, instants);
      keepAnew(workloadUid, at);
    },
    lastDisruption: (workloadUid) => last.get(workloadUid),
    failedMove: (workloadUid, side) => failed.get(workloadUid)?.[side],
    recordDisruption(workloadUid, at) {
      last.set(workloadUid, Math.max(at, last.get(workloadUid) ?? at));
      keepAnew(workloadUid, at);
    },
    recordFailedMove(workloadUid, side, at) {
      const sides = failed.get(workloadUid) ?? {};
      const failures = (sides[side]?.failures ?? 0) + 1;
      sides[side] = { failures, retryAt: at + pauseAfter(failures, backoff) };
      failed.set(workloadUid, sides);
      keepAnew(workloadUid, at);
    },
    recordLandedMove(workloadUid, side) {
      const sides = failed.get(workloadUid);
      if (sides === undefined) return;
      delete sides[side];
      if (Object.keys(sides).length === 0) failed.delete(workloadUid);
    },
    forgetWorkload(workloadUid, at) {
      gone.delete(workloadUid);
      gone.set(workloadUid, at);
      for (const [each, since] of gone) {
        if (at - since < KEPT_MILLIS) break;
        for (const memory of [last, failed, returned, gone]) memory.delete(each);
        steering.forget(each);
      }
    },
  };
}

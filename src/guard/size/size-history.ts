/**
 * What changes of size did so far: when, and which came to nothing: the loop detector's memory (autoscaler#6884, #2715:
 * pods evicted for ever as their replacements came back unchanged). No I/O; fed by whoever acts; lost with the process.
 */

import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { SizeChange } from '../../model/pod-size.ts';

/** An attempt that did not work, however it failed. */
export interface FailedChange {
  /** In a row, this one included. */
  readonly count: number;
  readonly retryAt: EpochMillis;
  /** Why, in a few words for people. */
  readonly cause: string;
  /** It was more, for which there was no room: what did harm may be taken back all the same. */
  readonly isOfMore?: true;
}

/** Changes that were accepted and of which nothing was seen afterwards. */
export interface IneffectiveChanges {
  /** In a row, at least the number that makes them count. */
  readonly count: number;
  readonly retryAt: EpochMillis;
}

/** The kubelet looks at an infeasible resize once and not again, so neither must we ask it again (autoscaler#10093). */
export interface InfeasibleSize {
  readonly changes: readonly SizeChange[];
  /** The kubelet's own words: whether it was the amount or a policy of the node tells what may still be asked. */
  readonly detail: string;
}

/** As a target: whether new pods are given their sizes at admission. */
export const ADMISSION = 'admission';

/** What guards read. A target is the uid of a pod (resizes) or of a workload (templates). */
export interface SizeHistory {
  /** When the last one was asked for, whatever came of it. */
  lastChange(targetUid: string): EpochMillis | undefined;
  /** When changes were begun after `since`, all targets together, in their order; at most a minute is remembered. */
  changesSince(since: EpochMillis): readonly EpochMillis[];
  /** The last attempt failed and is not to be repeated yet. */
  failed(targetUid: string): FailedChange | undefined;
  /** The changes of this workload or pod keep having no effect. */
  ineffective(uid: string): IneffectiveChanges | undefined;
  /** What its node said can never be had there. */
  infeasible(podUid: string, nodeName: string): InfeasibleSize | undefined;
}

export interface SizeLog extends SizeHistory {
  /** Call when it is asked for, before the answer: cooldown and pace count attempts. */
  recordChange(targetUid: string, at: EpochMillis): void;
  /**
   * Doubles the pause before the next attempt.
   * @param leastMillis where there was no room for more: the pause is at least this. Left out: it was something else.
   */
  recordFailure(targetUid: string, at: EpochMillis, cause: string, leastMillis?: Millis): void;
  /** The attempt worked: its failures are forgotten. */
  recordSuccess(targetUid: string): void;
  /**
   * A change was made and the world is as before: after {@link SizeLogOptions.giveUpAfter} of them nothing is tried for
   * a while.
   */
  recordIneffective(uid: string, at: EpochMillis): void;
  /** A change was seen in force: the count of those without effect starts anew. */
  recordEffective(uid: string): void;
  recordInfeasible(podUid: string, nodeName: string, infeasible: InfeasibleSize): void;
  /** Forgets a pod or workload that is gone. */
  forget(uid: string): void;
  /** Forgets every pod and workload but those that `isPresent` knows: pods come and go, and nobody tells of each. */
  keepOnly(isPresent: (uid: string) => boolean): void;
}

export interface SizeLogOptions {
  /** Pause after the first failure, and its bound; both above 0. */
  readonly backoff: { readonly initial: Millis; readonly max: Millis };
  /** Changes in a row without effect before giving up. At least 1. */
  readonly giveUpAfter: number;
  /** How long to give up for, at first; doubles each time up to a day. */
  readonly giveUpMillis: Millis;
}

const MINUTE = 60_000;
const DAY = 86_400_000;

export function createSizeLog({ backoff, giveUpAfter, giveUpMillis }: SizeLogOptions): SizeLog {
  const last = new Map<string, EpochMillis>();
  /** Instants of the last minute. */
  let recent: readonly EpochMillis[] = [];
  const failures = new Map<string, FailedChange>();
  const without = new Map<string, { readonly count: number; readonly retryAt: EpochMillis }>();
  const impossible = new Map<string, InfeasibleSize & { readonly nodeName: string }>();
  const memories = [last, failures, without, impossible];

  return {
    lastChange: (targetUid) => last.get(targetUid),
    // What lies more than a minute later was told before the machine's clock was set back.
    changesSince: (since) => recent.filter((at) => at > since && at <= since + MINUTE),
    failed: (targetUid) => failures.get(targetUid),
    ineffective(uid) {
      const found = without.get(uid);
      return found === undefined || found.count < giveUpAfter ? undefined : found;
    },
    infeasible(podUid, nodeName) {
      const found = impossible.get(podUid);
      return found?.nodeName === nodeName ? found : undefined;
    },
    recordChange(targetUid, at) {
      last.set(targetUid, Math.max(at, last.get(targetUid) ?? at));
      recent = [...recent.filter((each) => Math.abs(each - at) < MINUTE), at];
    },
    recordFailure(targetUid, at, cause, leastMillis) {
      const count = (failures.get(targetUid)?.count ?? 0) + 1;
      const pause = Math.max(leastMillis ?? 0, Math.min(backoff.max, backoff.initial * 2 ** (count - 1)));
      const of = leastMillis === undefined ? {} : ({ isOfMore: true } as const);
      failures.set(targetUid, { count, cause, retryAt: at + pause, ...of });
    },
    recordSuccess(targetUid) {
      failures.delete(targetUid);
    },
    recordIneffective(uid, at) {
      const count = (without.get(uid)?.count ?? 0) + 1;
      const pause = Math.min(DAY, giveUpMillis * 2 ** (count - giveUpAfter));
      without.set(uid, { count, retryAt: at + pause });
    },
    recordEffective(uid) {
      without.delete(uid);
    },
    recordInfeasible(podUid, nodeName, infeasible) {
      impossible.set(podUid, { ...infeasible, nodeName });
    },
    forget(uid) {
      for (const memory of memories) memory.delete(uid);
    },
    keepOnly(isPresent) {
      for (const memory of memories) {
        for (const uid of memory.keys()) if (uid !== ADMISSION && !isPresent(uid)) memory.delete(uid);
      }
    },
  };
}

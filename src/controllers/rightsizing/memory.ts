/**
 * What the leader remembers of each workload between two looks: when what was changed, and a change that is being
 * watched.
 */
import type { ApplyMethod } from '../../api/optimization-policy-status.ts';
import type { ResourceName } from '../../decide/rightsizing/amount-text.ts';
import { outlivedParts } from '../../decide/rightsizing/changed-world.ts';
import { type ChangeInPhase, partsOf, withoutParts } from '../../decide/rightsizing/side-by-side.ts';
import {
  isDecrease,
  type SizedPart,
  type WatchedChange,
  watchMillis,
} from '../../decide/rightsizing/watched-change.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { ContainerSpecRecord, SizedWorkload } from '../../model/sizing-records.ts';
import type { KeptAnnotations } from './lost-annotations.ts';
import type { ApplyResult } from './result.ts';
import type { ThrottlingSeen } from './throttling.ts';

/** What was recommended for a container: millicores and bytes. */
export interface ToldTarget {
  readonly container: string;
  readonly cpu: number | undefined;
  readonly memory: number | undefined;
}

/** A change that was begun and is not yet behind us. */
export interface OngoingChange extends WatchedChange, ChangeInPhase {
  readonly method: 'InPlace' | 'Recreate' | 'Evict';
  /** The pod that has it first, and since when. */
  readonly canary: { readonly uid: string; readonly name: string; readonly at: EpochMillis } | undefined;
  /** Whether a lower CPU limit holds its containers back. */
  readonly throttling: ThrottlingSeen;
  /** Until then some pods were yet to have it: by new pods that takes as long as budgets make it. */
  readonly spreadingUntil?: EpochMillis;
}

/**
 * Lost with the leader. What must outlive it is on the workload: what is applied and when, floors, and decreases that
 * are being watched; `resumeWatches` and `advise` read it back.
 */
export interface WorkloadMemory {
  /**
   * By {@link changeKey}: cooldowns are of one resource of one container, so CPU never waits for memory (optipod defect
   * B1).
   */
  lastChange: ReadonlyMap<string, EpochMillis>;
  /** When sizes were last put in force, of whichever container. */
  lastApplied: EpochMillis | undefined;
  lastMethod: ApplyMethod | undefined;
  /** When the recommendation last changed, and its text. */
  lastRecommendation: EpochMillis | undefined;
  recommended: string | undefined;
  /** What an event last told. */
  told: readonly ToldTarget[];
  /** Since when usage cannot be read. */
  unreadSince: EpochMillis | undefined;
  /** What the last leader was watching is in here by now. */
  isResumed: boolean;
  /** At the last look the advice was being applied; what was in force before that may have been outlived. */
  isActing: boolean;
  /** The oldest first; no two of them are about the same resource of a container. */
  ongoing: readonly OngoingChange[];
  /** Since when decreases that cost a restart wait for others to come with them. */
  awaitingSince: EpochMillis | undefined;
  /** What did harm, as long as some pod still has it. */
  takenBack: readonly SizedPart[];
  /** What the API server last said no with: it is the reason as long as no new attempt is made. */
  refused: ApplyResult | undefined;
  /** Annotations that were written and that the view shows only later. */
  written: { readonly at: EpochMillis; readonly annotations: Readonly<Record<string, string | null>> } | undefined;
  /** What sizes hang on, as it was on the workload at the last look. */
  kept: KeptAnnotations | undefined;
  /** A change of the template was made, with what it was to be: if it is gone again, somebody else writes it. */
  retemplated:
    | { readonly changes: readonly SizeChange[]; readonly at: EpochMillis; readonly wasSeen: boolean }
    | undefined;
  /** Uids of the pods there were when one was last evicted so that its replacement has another size, until that is seen. */
  beforeEviction: ReadonlySet<string> | undefined;
  /** Since when a pod, by its uid, has no room on its node for the size in force. */
  noRoom: ReadonlyMap<string, EpochMillis>;
  /** Since when none of the pods has room for what is due. */
  noRoomSince: EpochMillis | undefined;
}

export interface RightsizingMemory {
  of(workloadUid: string): WorkloadMemory;
  /** The workload is gone. @param key see `workloadKey`. */
  forget(workloadUid: string, key: string): void;
  /** Nobody sizes it any more. It is there: what was done to it goes on counting for whoever disrupts it next. */
  letGo(workloadUid: string): void;
}

/** Shared by all: most workloads have no need of a map of their own, and there may be thousands. */
const nothing: ReadonlyMap<string, never> = new Map<string, never>();

/** @param onForget called with uid and key of each workload that is gone. */
export function createRightsizingMemory(
  onForget: (workloadUid: string, key: string) => void = () => {},
): RightsizingMemory {
  const byUid = new Map<string, WorkloadMemory>();
  return {
    of(workloadUid) {
      const known = byUid.get(workloadUid);
      if (known !== undefined) return known;
      const fresh: WorkloadMemory = {
        lastChange: nothing,
        lastApplied: undefined,
        lastMethod: undefined,
        lastRecommendation: undefined,
        recommended: undefined,
        told: [],
        unreadSince: undefined,
        isResumed: false,
        isActing: false,
        ongoing: [],
        awaitingSince: undefined,
        takenBack: [],
        refused: undefined,
        written: undefined,
        kept: undefined,
        retemplated: undefined,
        beforeEviction: undefined,
        noRoom: nothing,
        noRoomSince: undefined,
      };
      byUid.set(workloadUid, fresh);
      return fresh;
    },
    forget(workloadUid, key) {
      byUid.delete(workloadUid);
      onForget(workloadUid, key);
    },
    letGo: (workloadUid) => void byUid.delete(workloadUid),
  };
}

/** The change as it goes on, in the place of the one it was. */
export function goOn(memory: WorkloadMemory, change: OngoingChange, next: OngoingChange): void {
  memory.ongoing = memory.ongoing.map((each) => (each === change ? next : each));
}

/** The change is behind us, or came to nothing: it is watched no longer. */
export function endOf(memory: WorkloadMemory, change: OngoingChange): void {
  memory.ongoing = memory.ongoing.filter((each) => each !== change);
}

/** What only the first pod was given in place is written nowhere, and given to no new pod. */
export function dropUnspread(memory: WorkloadMemory): void {
  memory.ongoing = memory.ongoing.filter(({ method, phase }) => method !== 'InPlace' || phase !== 'canary');
}

/**
 * Forgets what somebody has put other sizes in force for since: applied or taken back, it would undo what he wrote. To
 * be called at each look before anything is done.
 */
export function dropOutlived(memory: WorkloadMemory, inForce: readonly ContainerSpecRecord[], now: EpochMillis): void {
  const { retemplated } = memory;
  const isOnItsWay = retemplated !== undefined && !retemplated.wasSeen && now - retemplated.at < UNSEEN_MILLIS;
  memory.ongoing = memory.ongoing.flatMap((each): readonly OngoingChange[] => {
    if (each.method === 'Recreate' && isOnItsWay) return [each];
    const isWritten = each.method !== 'InPlace' || each.phase === 'spread';
    const parts = outlivedParts(each, isWritten, inForce);
    if (parts.length === 0) return [each];
    // What only the first pod has goes on as a whole, or not at all.
    return isWritten ? withoutParts([each], parts) : [];
  });
}

/** Since when its pods have all had it. */
export function watchedSince({ startedAt, spreadingUntil = 0 }: OngoingChange): EpochMillis {
  return Math.max(startedAt, spreadingUntil);
}

export function watchEndsAt(change: OngoingChange, revertMillis: Millis): EpochMillis {
  return watchedSince(change) + watchMillis(change, revertMillis);
}

/**
 * Forgets what is behind us.
 * @param isEverywhere every pod has what is in force; a decrease is watched on until then.
 */
export function review(memory: WorkloadMemory, isEverywhere: boolean, now: EpochMillis, revertMillis: Millis): void {
  memory.ongoing = memory.ongoing.flatMap((each): readonly OngoingChange[] => {
    if (each.phase === 'canary' && each.method === 'InPlace') return [each];
    if (!isEverywhere && isDecrease(each)) return [{ ...each, spreadingUntil: now }];
    return now < watchEndsAt(each, revertMillis) ? [each] : [];
  });
}

/** A watch is never so far behind; what is not seen by then was undone by somebody else. */
export const UNSEEN_MILLIS: Millis = 30_000;

/** The workload as it is with what was written to it since. */
export function withWritten(workload: SizedWorkload, memory: WorkloadMemory, now: EpochMillis): SizedWorkload {
  const { written } = memory;
  if (written === undefined) return workload;
  const missing = Object.entries(written.annotations).filter(
    ([key, value]) => (workload.annotations[key] ?? null) !== value,
  );
  if (missing.length === 0 || now - written.at >= UNSEEN_MILLIS) {
    memory.written = undefined;
    return workload;
  }
  const annotations = { ...workload.annotations };
  for (const [key, value] of missing) {
    if (value === null) delete annotations[key];
    else annotations[key] = value;
  }
  return { ...workload, annotations };
}

/** Key of {@link WorkloadMemory.lastChange}: `app/cpu`. */
export function changeKey(container: string, resource: ResourceName): string {
  return `${container}/${resource}`;
}

/** Notes when which resource of which container was changed. */
export function noteChanges(memory: WorkloadMemory, changes: readonly SizeChange[], at: EpochMillis): void {
  noteParts(memory, partsOf(changes), at);
}

export function noteParts(memory: WorkloadMemory, parts: readonly SizedPart[], at: EpochMillis): void {
  if (parts.length === 0) return;
  const changed = parts.map(({ container, resource }) => [changeKey(container, resource), at] as const);
  memory.lastChange = new Map([...memory.lastChange, ...changed]);
}

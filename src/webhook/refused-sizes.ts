/**
 * Whether new pods of a workload are refused with the sizes in force: others look at them after this webhook, such as
 * policies that want a request to be its limit. Let in as they were sent, they run, and are resized then.
 */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';

export interface RefusedSizesOptions {
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * @param replica which of the workload asks, where they have an identity; see `replicaOf`.
 * @param isDryRun no pod is made whatever the answer is: that it is asked for again says nothing. Default false.
 */
export type AreSizesRefused = (workload: SizedWorkload, replica: string | undefined, isDryRun?: boolean) => boolean;

/** Then it is tried again: whoever refused may have been told. */
const REMEMBER_MILLIS: Millis = 3_600_000;
/**
 * Kinds whose replicas have an identity do not tell of refusals: one of them asks again and again. None that was let in
 * is made anew so often.
 */
const ASKS = 8;
const ASKS_MILLIS: Millis = 60_000;

/** Keeps who was refused, by the uid of the workload. */
export function createRefusedSizes({ clock }: RefusedSizesOptions): AreSizesRefused {
  const refusedAt = new Map<string, EpochMillis>();
  const asked = new Map<string, { readonly since: EpochMillis; readonly count: number }>();

  const forget = (now: EpochMillis): void => {
    // Nor of the future, should the clock have been put back.
    for (const [uid, at] of refusedAt) if (Math.abs(now - at) >= REMEMBER_MILLIS) refusedAt.delete(uid);
    for (const [key, { since }] of asked) if (Math.abs(now - since) >= ASKS_MILLIS) asked.delete(key);
  };
  const isAskingAgain = (uid: string, replica: string, now: EpochMillis): boolean => {
    const key = `${uid}/${replica}`;
    const { since, count } = asked.get(key) ?? { since: now, count: 0 };
    asked.set(key, { since, count: count + 1 });
    return count + 1 >= ASKS;
  };
  return ({ uid, refusedSince }, replica, isDryRun = false) => {
    const now = clock.now();
    forget(now);
    const isAsked = replica !== undefined && !isDryRun;
    if (refusedSince !== undefined || (isAsked && isAskingAgain(uid, replica, now))) refusedAt.set(uid, now);
    return refusedAt.has(uid);
  };
}

/**
 * Whether a new pod is to be made as it was sent: a quota has room for that, and none for the size in force. Others
 * have taken the room since, or its owner has lowered it; the pod has its size once there is room again.
 */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { usedBy } from '../model/awaited-pods.ts';
import { hasEnded } from '../model/owners.ts';
import type { QuotaSubject } from '../model/quota-scopes.ts';
import { lessUse, noUse, quotaGrowth, quotaProblem } from '../model/size-bounds.ts';
import type { ContainerSpecRecord, QuotaRecord, SizedWorkload } from '../model/sizing-records.ts';
import type { SizedPod } from '../model/sizing-view.ts';

export interface BeyondQuotaOptions {
  readonly quotas: (namespace: string) => readonly QuotaRecord[];
  /** Every phase, terminating included. */
  readonly podsOf: (workload: SizedWorkload) => readonly SizedPod[];
  readonly clock: Pick<Clock, 'now'>;
}

/** @param isDryRun no pod is made whatever the answer is: it neither begins nor ends a shortage. Default false. */
type IsBeyondQuota = (
  workload: SizedWorkload,
  subject: QuotaSubject,
  sized: readonly ContainerSpecRecord[],
  sent: readonly ContainerSpecRecord[],
  isDryRun?: boolean,
) => boolean;

/**
 * For so long it is rather refused, and asked for again: figures of a quota lag behind, and hold for a moment still
 * what the pod had in whose place it comes.
 */
const PATIENCE_MILLIS: Millis = 10_000;
/** No controller waits longer between two attempts (client-go util/workqueue, 1000 s). */
const LONGEST_PAUSE_MILLIS: Millis = 1_200_000;

/** No room for the size in force. */
interface Shortage {
  readonly since: EpochMillis;
  readonly askedAt: EpochMillis;
}

export function createBeyondQuota({ quotas, podsOf, clock }: BeyondQuotaOptions): IsBeyondQuota {
  /** By the uid of the workload. */
  const shortages = new Map<string, Shortage>();

  const shortSince = (uid: string, now: EpochMillis, isDryRun: boolean): EpochMillis => {
    for (const [each, { askedAt }] of shortages) if (now - askedAt > LONGEST_PAUSE_MILLIS) shortages.delete(each);
    // Not of the future, should the clock have been put back.
    const since = Math.min(shortages.get(uid)?.since ?? now, now);
    if (!isDryRun) shortages.set(uid, { since, askedAt: now });
    return since;
  };

  return (workload, subject, sized, sent, isDryRun = false) => {
    const bounds = quotas(workload.namespace);
    if (bounds.length === 0) return false;
    const now = clock.now();
    // It may come in the place of one of these. Who stays beyond its time, as on a lost node, gives nothing back.
    const leaving = podsOf(workload).filter(
      ({ pod }) => pod.deletingAt !== undefined && pod.deletingAt >= now && !hasEnded(pod),
    );
    const returning = lessUse(noUse, usedBy(leaving));
    const isShort = (containers: readonly ContainerSpecRecord[]): boolean =>
      quotaProblem(bounds, subject, quotaGrowth([], containers, []), returning) !== undefined;
    if (isShort(sized)) return now >= shortSince(workload.uid, now, isDryRun) + PATIENCE_MILLIS && !isShort(sent);
    if (!isDryRun) shortages.delete(workload.uid);
    return false;
  };
}

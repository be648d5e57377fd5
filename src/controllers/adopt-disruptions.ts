/**
 * What the last leader may have begun and not seen end goes on counting against the cluster-wide budget. Who began it
 * is not always known: what comes from somebody else counts as well, until it is over.
 */

import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { ClusterView } from '../model/cluster-view.ts';
import { podsOf } from '../model/owners.ts';
import type { PodRecord } from '../model/records.ts';
import { sizeManagers } from '../model/size-managers.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';
import type { SizingView } from '../model/sizing-view.ts';
import type { Disruptions } from './disruptions.ts';
import type { PlacementRules } from './placement/rules.ts';

/** What is told of them. */
type Adopting = Pick<Disruptions, 'inFlight' | 'adoptReplacements'>;

/**
 * Pods of managed workloads that are ending. The time they are given starts now, or when their grace period is over:
 * since when they have been ending says nothing about who asked.
 * @returns how many were added to those in flight.
 */
export function adoptEvictions(
  view: ClusterView,
  { readPolicy }: Pick<PlacementRules, 'readPolicy'>,
  disruptions: Adopting,
  now: EpochMillis,
): number {
  let count = 0;
  for (const workload of view.workloads()) {
    if (readPolicy(view, workload).state !== 'managed') continue;
    count += addEnding(workload.uid, podsOf(view, workload), disruptions, now);
  }
  return count;
}

/**
 * Rollouts of templates in which rightsizing owns sizes, and ending pods of workloads that have sizes of its. Sizes in
 * a template are told by its field managers, sizes that admission gives by the workload's annotation.
 * @returns how many.
 */
export function adoptSizeDisruptions(
  view: Pick<SizingView, 'workloads' | 'podsOf'>,
  disruptions: Adopting & Pick<Disruptions, 'beginRollout'>,
  now: EpochMillis,
): number {
  let count = 0;
  for (const workload of view.workloads()) {
    if (workload.isRollingOut && ownsSizes(workload)) {
      disruptions.beginRollout(workload.uid);
      count++;
    } else if (hasSizes(workload)) {
      const pods = view.podsOf(workload).map(({ pod }) => pod);
      count += addEnding(workload.uid, pods, disruptions, now);
    }
  }
  return count;
}

/** New pods are given sizes at admission: those of all, or those of their replica. */
function hasSizes({ annotations }: SizedWorkload): boolean {
  return (
    annotations[rightsizingKeys.appliedSizes] !== undefined || annotations[rightsizingKeys.replicaSizes] !== undefined
  );
}

/** Some container's resources in the template were last written by rightsizing (`metadata.managedFields`). */
function ownsSizes({ templateManagers }: SizedWorkload): boolean {
  return Object.values(templateManagers).some((managers) => managers.includes(sizeManagers.rightsizing));
}

function addEnding(
  workloadUid: string,
  pods: readonly Pick<PodRecord, 'uid' | 'deletingAt'>[],
  { inFlight, adoptReplacements }: Adopting,
  now: EpochMillis,
): number {
  let count = 0;
  for (const { uid, deletingAt } of pods) {
    if (deletingAt === undefined) continue;
    // Its deletion timestamp is the end of its grace period.
    inFlight.add({ workloadUid, podUid: uid, since: now, graceMillis: Math.max(0, deletingAt - now) });
    count++;
  }
  if (count > 0) adoptReplacements(workloadUid);
  return count;
}

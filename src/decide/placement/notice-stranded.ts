/** Tells the memory of spot what the pods of one workload show at this moment. */
import type { EpochMillis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { isLive, revisionsOf } from '../../model/owners.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { PodRecord, WorkloadRecord } from '../../model/records.ts';
import { type Replacement, replacementOf } from '../../model/replacement.ts';
import type { Sides } from '../../model/sides.ts';
import { patienceFor, strandedAt, waitsForSpot } from './decide-fallback.ts';
import type { SpotAvailability } from './spot-availability.ts';

export interface NoticeInput {
  readonly view: ClusterView;
  readonly sides: Sides;
  readonly settings: PlacementSettings;
  readonly workload: WorkloadRecord;
  readonly now: EpochMillis;
}

/**
 * Level-based: called before each decision about the workload, on every replica of the operator; saying it twice
 * changes nothing.
 */
export function noticeStranded(availability: SpotAvailability, input: NoticeInput): void {
  const { view, sides, settings, workload, now } = input;
  let newestCoverAt: EpochMillis | undefined;
  let longest: PodRecord | undefined;
  for (const revision of revisionsOf(view, workload)) {
    for (const pod of revision.pods) {
      if (pod.fallback && isLive(pod)) newestCoverAt = Math.max(pod.createdAt, newestCoverAt ?? 0);
      if (pod.unschedulableSince === undefined || !waitsForSpot(sides, workload, pod)) continue;
      if (longest?.unschedulableSince === undefined || pod.unschedulableSince < longest.unschedulableSince)
        longest = pod;
    }
  }
  availability.introduce(workload.uid, workload.namespace, newestCoverAt);
  if (longest?.unschedulableSince === undefined) return;
  const lastLanded = availability.lastLanded(workload.uid);
  if (strandedAt(longest, patienceFor(workload, settings), lastLanded) > now) return;
  const witness = isOrdinary(replacementOf(workload, longest, sides), longest) ? workload.namespace : undefined;
  availability.recordStranded(workload.uid, longest.unschedulableSince, witness, now);
}

/** Of local storage every node has some. */
const ORDINARY_EXTRA = 'ephemeral-storage';

/** Nothing but the side and requests of what every node has keeps the pod from running. */
function isOrdinary({ template, besideTerms }: Replacement, pod: PodRecord): boolean {
  const { nodeSelector, requiredNodeTerms, extraRequests, claimsDevices, hasPodPlacementRules } = template;
  return (
    Object.keys(nodeSelector).length === 0 &&
    requiredNodeTerms === undefined &&
    besideTerms === undefined &&
    Object.keys(extraRequests ?? {}).every((name) => name === ORDINARY_EXTRA) &&
    claimsDevices === undefined &&
    !hasPodPlacementRules &&
    pod.claims.length === 0
  );
}

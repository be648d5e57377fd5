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

export interface GivenUpInput extends Pick<NoticeInput, 'sides' | 'settings' | 'workload' | 'now'> {
  /** As it was before it was evicted. */
  readonly pod: PodRecord;
  readonly evictedAt: EpochMillis;
}

/** Whoever gave it up waited the whole patience, by a clock of his own. */
const LEAST_OF_PATIENCE = 1 / 2;

/**
 * A pod that is evicted where it waited for spot counts as stranded, so that replicas that decide by themselves agree
 * with the leader. It recreates such pods the moment they have waited enough by its clock: a replica whose clock is behind
 * sees none that has, and would send each replacement to spot again. One that was merely deleted (by a scale-down, a
 * rollout, its user) or that waited no longer than an autoscaler takes says nothing. It is no witness for others: it may
 * have been evicted for another reason.
 */
export function noticeGivenUp(availability: SpotAvailability, input: GivenUpInput): void {
  const { sides, settings, workload, pod, evictedAt, now } = input;
  if (pod.unschedulableSince === undefined || !waitsForSpot(sides, workload, pod)) return;
  if (evictedAt - pod.unschedulableSince < patienceFor(workload, settings) * LEAST_OF_PATIENCE) return;
  availability.recordStranded(workload.uid, pod.unschedulableSince, undefined, now);
}

/** Of local storage every node has some. */
const ORDINARY_EXTRA = 'ephemeral-storage';

/** Nothing but the side and requests of what every node has keeps the one in the place of the pod from running. */
export function isOrdinary({ template, besideTerms }: Replacement, pod: PodRecord): boolean {
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

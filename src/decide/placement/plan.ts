/**
 * What placement sees in one workload and wants done about it. Plain data: status, explain and the controllers read it.
 */
import type { ReasonName } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { ClusterView, WorkloadRef } from '../../model/cluster-view.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { NodeClass, PodRecord, Side, WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import type { Decision, PodRef } from '../decision.ts';
import type { PlacementPolicy } from './policy.ts';
import type { SideCounts } from './slots.ts';
import type { SpotOutlook, SpotState } from './spot-outlook.ts';

/** What one plan is made of. Of one instant: `now` and the view belong together. */
export interface PlanInput {
  readonly view: ClusterView;
  readonly sides: Sides;
  readonly workload: WorkloadRecord;
  readonly settings: PlacementSettings;
  readonly policy: PlacementPolicy;
  /** What is known of spot; left out, nothing is known against it. */
  readonly spot?: SpotOutlook | undefined;
  readonly now: EpochMillis;
}

export type PodState =
  /** On the side of its slot. */
  | 'settled'
  /** On the other side than its slot. */
  | 'wrong-side'
  /** Its node is of no known class, or not known: it counts for neither side. */
  | 'unknown'
  /** More pods than replicas: a surge, or about to be scaled away. */
  | 'surplus'
  | 'terminating'
  /** Failed or Succeeded. */
  | 'ended';

export interface PodPlan {
  readonly ref: PodRef;
  readonly revision: string;
  /** The slot it holds; undefined for pods that hold none. */
  readonly slot: number | undefined;
  /** What its annotation says: a wish, which `slot` may have overruled. */
  readonly stampedSlot: number | undefined;
  /** The side of `slot`. */
  readonly wantedSide: Side | undefined;
  /** Where it runs; of a pod without a node, where it will. */
  readonly actualSide: NodeClass;
  readonly node: string | undefined;
  readonly ready: boolean;
  readonly state: PodState;
  /** One sentence for people. */
  readonly note: string;
}

export interface ActualCounts extends SideCounts {
  /** On neither side as far as is known; never counted towards the floor. */
  readonly unknown: number;
}

/** Something worth saying that no single pod says. */
export interface PlanNote {
  readonly reason: ReasonName | undefined;
  readonly text: string;
}

export interface WorkloadPlan {
  readonly workload: WorkloadRef;
  readonly workloadUid: string;
  readonly policy: PlacementPolicy;
  readonly replicas: number;
  /** Undefined when the workload is not managed or its configuration invalid. */
  readonly target: SideCounts | undefined;
  /** Live pods of all revisions. */
  readonly actual: ActualCounts;
  /** Replicas that must be on on-demand, 0..replicas; 0 where there is no target. */
  readonly floor: number;
  /** Pods that would have to change sides for the counts to be right. */
  readonly drift: number;
  /** Whether spot can be had, and how many pods on-demand covers for it. */
  readonly spot: { readonly state: SpotState; readonly covered: number };
  /** When the next pod will have waited for spot long enough; undefined when none waits. */
  readonly fallbackDueAt: EpochMillis | undefined;
  readonly pods: readonly PodPlan[];
  /** At most one fallback or eviction; re-stamps only when nothing has to move. */
  readonly decisions: readonly Decision[];
  readonly notes: readonly PlanNote[];
}

/** A pod with what the plan knows about it. */
export interface PlannedPod {
  readonly pod: PodRecord;
  readonly plan: PodPlan;
}

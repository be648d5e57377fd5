/** What `stowage plan` found, as plain data: the same for people (render-plan.ts) and machines (JSON, YAML). */

import type { FleetCost, WorkloadCost } from '../../decide/placement/cost.ts';
import type { ManagedPolicy } from '../../decide/placement/policy.ts';
import type { SideCounts } from '../../decide/placement/slots.ts';
import { sideOfSlot, slotsFor } from '../../decide/placement/slots.ts';
import type { Millis } from '../../lib/units.ts';
import type { Side } from '../../model/records.ts';
import type { AllocationPlan } from '../allocation/allocation-plan.ts';
import type { InputNotes } from '../input/input-notes.ts';
import type { ResultDocument } from '../output.ts';
import type { SizingPlan } from '../sizing/sizing-plan.ts';
import type { PlannedBlock } from './planned-blocks.ts';

/** One thing that would be done, now or once nothing blocks it. */
export interface PlannedAction {
  readonly action: 'evict' | 'fallback' | 'restamp';
  readonly pod: string;
  readonly from?: string;
  readonly to: string;
  readonly slot?: number;
  readonly why: string;
  readonly numbers: Readonly<Record<string, number | string | boolean>>;
  /** Empty when it would be done at once. */
  readonly blockedBy: readonly PlannedBlock[];
}

/** Consecutive slots of one side: where admission sends the pods that take them. */
export interface SlotRun {
  readonly from: number;
  readonly to: number;
  readonly side: Side;
}

/** One workload; `policy`, `target` and `slots` only where it is managed. */
export interface PlannedWorkloadDocument {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  /** `unmanaged` and `invalid` workloads are left alone; `block` says why. */
  readonly state: 'managed' | 'unmanaged' | 'invalid';
  readonly block?: PlannedBlock;
  readonly policy?: {
    readonly spotPercentage: number;
    /** As in the annotation: `2` or `30%`. */
    readonly minOnDemand: string;
    readonly sources: ManagedPolicy['sources'];
  };
  readonly target?: SideCounts;
  /** Live pods; absent when there are none to count. */
  readonly actual?: SideCounts & { readonly unknown: number };
  /** Pods that would have to change sides. */
  readonly drift: number;
  readonly slots?: readonly SlotRun[];
  /** With prices: dollars an hour now and once the plan is carried out. */
  readonly cost?: WorkloadCost;
  readonly actions: readonly PlannedAction[];
  readonly notes: readonly string[];
}

/** Fields are added within a version of the document, never renamed or removed. */
export interface PlanDocument extends ResultDocument, InputNotes {
  readonly kind: 'Plan';
  readonly source: string;
  readonly summary: {
    readonly workloads: number;
    readonly managed: number;
    readonly invalid: number;
    readonly driftedReplicas: number;
    /** Actions that nothing blocks. */
    readonly actions: number;
    readonly blocked: number;
  };
  /** How fast an operator with this configuration carries it out. */
  readonly pace: {
    /** Evictions in flight across the cluster, at most. */
    readonly maxConcurrentEvictions: number;
    /** Pause between two disruptions of one workload. */
    readonly cooldownMillis: Millis;
  };
  /** With prices: of all managed workloads. */
  readonly cost?: FleetCost;
  readonly workloads: readonly PlannedWorkloadDocument[];
  /** What rightsizing would change; absent where there is no policy. */
  readonly sizing?: SizingPlan;
  /** How CPU would be shared, node by node; absent where no pod takes part. */
  readonly allocation?: AllocationPlan;
}

/** Runs of equal sides among the slots. */
export function slotRuns(policy: ManagedPolicy, replicas: number): SlotRun[] {
  const runs: SlotRun[] = [];
  const slots = slotsFor(replicas);
  for (let slot = 1; slot <= slots; slot++) {
    const side = sideOfSlot(policy.rule, slot);
    const last = runs.at(-1);
    if (last?.side === side) runs[runs.length - 1] = { ...last, to: slot };
    else runs.push({ from: slot, to: slot, side });
  }
  return runs;
}

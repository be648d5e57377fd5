/**
 * Allocation of one workload's pods as plain data: what each bargained for, got and has, what bounded it, and at what
 * price.
 */
import type { AllocationMode, PodAllocationPhase } from '../../api/pod-allocation.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { AllocationStores } from '../../observe/allocation-stores.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import type { AgentState, AllocationAgents } from './agents.ts';

/** Of one pod; amounts are quantities, as they stand in its PodAllocation. */
export interface ExplainedAllocation {
  readonly pod: string;
  readonly node: string;
  readonly agent: AgentState;
  /** What its agent wants it to request, and the ceiling where one is wanted. Quantities. */
  readonly share: string;
  readonly ceiling?: string;
  /** What is in force. */
  readonly applied?: string;
  readonly appliedLimit?: string;
  /** Its part in the bargain: the least it is owed, the most it could use, and its weight. */
  readonly claim?: string;
  readonly want?: string;
  readonly usage?: string;
  readonly weight?: number;
  readonly mode?: AllocationMode;
  /** Utility of one more core on the node; 0 while there is enough. */
  readonly shadowPrice?: number;
  readonly phase: PodAllocationPhase;
  readonly reason: string;
  readonly message: string;
  /** One sentence for each rule that moved something. */
  readonly clamps: readonly string[];
}

/** Empty where no pod of the workload has an allocation. */
export type AllocationExplainer = (ref: WorkloadRef) => readonly ExplainedAllocation[];

export function createAllocationExplainer(
  view: Pick<SizingView, 'workload' | 'podsOf'>,
  stores: Pick<AllocationStores, 'of'>,
  agents: Pick<AllocationAgents, 'stateOf'>,
): AllocationExplainer {
  return (ref) => {
    const workload = view.workload(ref);
    if (workload === undefined) return [];
    return view.podsOf(workload).flatMap(({ pod }): ExplainedAllocation[] => {
      const record = stores.of(pod);
      if (record === undefined) return [];
      const { spec, status } = record;
      const { decision } = spec;
      const { nodeName = '' } = pod;
      const applied = status.conditions?.find(({ type }) => type === 'Applied');
      return [
        {
          pod: pod.name,
          node: nodeName,
          agent: agents.stateOf(nodeName),
          share: spec.desiredCPURequest,
          ...((spec.limitPolicy ?? 'Apply') === 'Apply' && { ceiling: spec.desiredCPULimit }),
          ...(status.appliedCPURequest !== undefined && { applied: status.appliedCPURequest }),
          ...(status.appliedCPULimit !== undefined && { appliedLimit: status.appliedCPULimit }),
          ...(decision?.claim !== undefined && { claim: decision.claim }),
          ...(decision?.want !== undefined && { want: decision.want }),
          ...(decision?.cpuUsage !== undefined && { usage: decision.cpuUsage }),
          ...(decision?.weight !== undefined && { weight: decision.weight }),
          ...(decision?.mode !== undefined && { mode: decision.mode }),
          ...(decision?.shadowPriceCPU !== undefined && { shadowPrice: decision.shadowPriceCPU }),
          phase: status.phase ?? 'Pending',
          reason: status.reason ?? '',
          message: applied?.message ?? '',
          clamps: clampsOf(record),
        },
      ];
    });
  };
}

/**
 * The agent's with the figures of now, and what the operator found on top, which only the status tells: with those of
 * when it was written.
 */
function clampsOf({ spec, status }: Pick<AllocationRecord, 'spec' | 'status'>): readonly string[] {
  const own = spec.decision?.clamps ?? [];
  const constrained = status.conditions?.find(({ type }) => type === 'Constrained');
  const told = constrained?.status === 'True' ? constrained.message.split('; ') : [];
  // The whole word: the name of one rule begins with that of another.
  const ofAgent = new Set(own.map(({ reason }) => reason));
  const more = told.filter((sentence) => !ofAgent.has(sentence.split(':', 1)[0] ?? ''));
  return [...own.map(({ reason, message }) => message ?? reason), ...more];
}

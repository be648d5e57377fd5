/** PodAllocation -> {@link AllocationRecord}; what the allocations of many pods have in common is kept once. */
import type {
  AllocationClamp,
  AllocationGuidance,
  PodAllocation,
  PodAllocationCondition,
  PodAllocationSpec,
  PodAllocationStatus,
} from '../api/pod-allocation.ts';
import { createInterner, createTextInterner } from './intern.ts';

export interface AllocationRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: PodAllocationSpec;
  /** Empty where there is none. */
  readonly status: PodAllocationStatus;
}

/** Values of a kind kept for sharing; beyond these equal ones are merely no longer shared. */
const MAX_SHARED = 5_000;

/** The projection answers undefined for an object that says nothing of a pod. */
export function createAllocationProjection(): (object: PodAllocation) => AllocationRecord | undefined {
  const texts = createTextInterner(MAX_SHARED);
  const clamps = createInterner<readonly AllocationClamp[]>(MAX_SHARED);
  const conditions = createInterner<PodAllocationCondition>(MAX_SHARED);
  const guidances = createInterner<AllocationGuidance>(MAX_SHARED);

  const specOf = (spec: PodAllocationSpec, name: string): PodAllocationSpec => {
    const { nodeName, podUID, decision } = spec;
    return {
      ...spec,
      namespace: texts.intern(spec.namespace),
      ...(nodeName !== undefined && { nodeName: texts.intern(nodeName) }),
      // Objects of our agents are named after it.
      ...(podUID === name && { podUID: name }),
      ...(decision?.clamps !== undefined && { decision: { ...decision, clamps: clamps.intern(decision.clamps) } }),
    };
  };
  const statusOf = (status: PodAllocationStatus): PodAllocationStatus => ({
    ...status,
    ...(status.conditions !== undefined && { conditions: status.conditions.map((each) => conditions.intern(each)) }),
    ...(status.guidance !== undefined && { guidance: guidances.intern(status.guidance) }),
  });

  return ({ metadata, spec, status }) => {
    const { namespace, name, uid = '', generation = 0 } = metadata ?? {};
    if (namespace === undefined || name === undefined || spec === undefined) return undefined;
    return {
      namespace: texts.intern(namespace),
      name,
      uid,
      generation,
      spec: specOf(spec, name),
      status: statusOf(status ?? {}),
    };
  };
}

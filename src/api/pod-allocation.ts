/**
 * PodAllocation: what share of its node's CPU a pod should have, and what became of it. The node's agent writes `spec`, the
 * operator writes `status`. Types only, so that the agent gets by without the schema library; the schema is
 * pod-allocation-schema.ts. Fields marked "added" are not in the API as MBCAS shipped it; all of those are optional.
 */
import type { KubeObject } from './core.ts';
import type { ResourceType } from './resources.ts';

/** `Applied` only while what the kubelet has actuated equals what is desired. */
export type PodAllocationPhase = 'Pending' | 'Applied' | 'Failed';

/**
 * What `desiredCPULimit` means (added; absent means `Apply`).
 * - `Apply`: it is the limit the pod shall have.
 * - `Lift`: no ceiling is wanted. A limit cannot be removed in place, so one that is there is raised to `desiredCPULimit`
 *   (the node's allocatable CPU); a container without one stays without.
 * - `Keep`: limits stay as they are; only requests change.
 */
export type LimitPolicy = 'Apply' | 'Lift' | 'Keep';

/** How much of the node is asked for: all wants fit, all claims fit, or not even those. */
export type AllocationMode = 'uncongested' | 'congested' | 'overloaded';

/** A rule that moved a bound, the weight or the result of the bargaining. */
export interface AllocationClamp {
  /** UpperCamelCase, e.g. `LimitRange`; the label of `mbcas_clamp_total`. */
  readonly reason: string;
  /** One sentence with the figures. */
  readonly message?: string;
}

/** What was measured of a container over the window of the decision. */
export interface ContainerMeasurement {
  readonly name: string;
  /** Quantity, e.g. `120m`. */
  readonly cpuUsage: string;
  /** Throttled periods by all periods, 0..1; absent where no period had work or no quota is set. */
  readonly throttledRatio?: number;
}

/**
 * The numbers behind the desired values (added). Written with those; where they stay as they are and the numbers come to say
 * something else, they are written anew, one pod of the node at a time in place of its sign of life.
 */
export interface AllocationDecision {
  readonly mode?: AllocationMode;
  /** Multiplier of the node's capacity constraint: utility per core; 0 while the node is uncongested. */
  readonly shadowPriceCPU?: number;
  /** Lower bound of the bargaining: the pod's claim. Quantity. */
  readonly claim?: string;
  /** Upper bound of the bargaining: what the pod could use. Quantity. */
  readonly want?: string;
  readonly weight?: number;
  /** Measured use of the whole pod. Quantity. */
  readonly cpuUsage?: string;
  /** As {@link ContainerMeasurement.throttledRatio}, of the pod or its tighter container. */
  readonly throttledRatio?: number;
  readonly containers?: readonly ContainerMeasurement[];
  readonly clamps?: readonly AllocationClamp[];
  /** Name of the group of pods that share a cap, and what this pod is owed (positive) or owes in millicores. */
  readonly coalition?: string;
  readonly credits?: number;
}

/** Written by the agent of the pod's node alone. */
export interface PodAllocationSpec {
  /** Namespace of the pod; equals the object's own. */
  readonly namespace: string;
  readonly podName: string;
  /** Of the whole pod; a quantity such as `450m`. */
  readonly desiredCPURequest: string;
  /** Of the whole pod; a quantity; never below the request. See {@link LimitPolicy}. */
  readonly desiredCPULimit: string;
  /** Added: pods of one name follow each other, so the uid says which one is meant. */
  readonly podUID?: string;
  /** Added: the node whose agent wrote this. */
  readonly nodeName?: string;
  readonly limitPolicy?: LimitPolicy;
  /** Added: the raise is forced (throttling, start-up): spacing and dead-band of the operator do not apply to it. */
  readonly urgent?: boolean;
  /** Added: what the pod had when the agent first saw it, for the way back. Quantities. */
  readonly originalCPURequest?: string;
  readonly originalCPULimit?: string;
  readonly decision?: AllocationDecision;
  /** Added: when the agent last wrote the spec, by its own clock (RFC 3339). See {@link RENEWED_ANNOTATION}. */
  readonly renewTime?: string;
}

export interface PodAllocationCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** A bound on the pod's share that the operator knows of; amounts in millicores, a missing one is no bound. */
export interface AllocationBound {
  readonly layer: string;
  readonly reason: string;
  readonly min?: number;
  readonly max?: number;
}

/**
 * What the operator tells the agent about a pod (added): the agent sees its own node, the operator the cluster with its quotas,
 * limit ranges, autoscalers and budgets. Amounts in millicores. Left out as a whole: nobody has said anything.
 */
export interface AllocationGuidance {
  readonly bounds?: readonly AllocationBound[];
  /** Factors of the weight: spread over domains, preferred affinity. */
  readonly spread?: number;
  readonly affinity?: number;
  /** Only the limit may change: an autoscaler divides by the request. */
  readonly isRequestFrozen?: boolean;
  readonly limitMin?: number;
  /** Largest step a tick, as a share. */
  readonly step?: number;
  /** Factor of the dead-band. */
  readonly bandFactor?: number;
  /** What rightsizing advises to request: the pod's claim. */
  readonly advice?: number;
  /** What the pod had before the first change of ours. */
  readonly originalRequest?: number;
  readonly originalLimit?: number;
  /** `mbcas.io/managed` of the namespace. */
  readonly namespaceManaged?: 'true' | 'false';
  readonly hasForeignWriter?: boolean;
  readonly isVpaOwned?: boolean;
  readonly restartedOnResize?: boolean;
  readonly hasStaticCpuManager?: boolean;
  /** How much the pods of the namespace may still grow, and this node's part of it, 0..1. */
  readonly quotaRequestRoom?: number;
  readonly quotaLimitRoom?: number;
  readonly quotaNodeShare?: number;
  /** The operator cannot say: its stores are not fresh. Nothing about the pod may change. */
  readonly isUnknown?: boolean;
}

/** Written by the operator's leader alone. */
export interface PodAllocationStatus {
  /** What the pod actually has. Quantities. */
  readonly appliedCPURequest?: string;
  readonly appliedCPULimit?: string;
  readonly phase?: PodAllocationPhase;
  readonly reason?: string;
  /** RFC 3339. */
  readonly lastAppliedTime?: string;
  readonly lastAttemptTime?: string;
  /** Copied from {@link AllocationDecision.shadowPriceCPU}. */
  readonly shadowPriceCPU?: number;
  /** Added. */
  readonly observedGeneration?: number;
  readonly conditions?: readonly PodAllocationCondition[];
  readonly guidance?: AllocationGuidance;
}

/** Named by the pod's uid, owned by the pod, so that it is collected with it and never taken for its successor's. */
export interface PodAllocation extends KubeObject {
  spec?: PodAllocationSpec;
  status?: PodAllocationStatus;
}

export const podAllocations: ResourceType<PodAllocation> = {
  group: 'allocation.mbcas.io',
  version: 'v1alpha1',
  plural: 'podallocations',
  kind: 'PodAllocation',
  namespaced: true,
};

/** Field manager of the node agents. */
export const AGENT_FIELD_MANAGER = 'mbcas-agent';

/** Label of a PodAllocation: the node of its pod, by {@link nodeLabelValue}. */
export const NODE_LABEL = 'mbcas.io/node';
/** Label of a PodAllocation: `agent` for those an agent wrote. */
export const COMPONENT_LABEL = 'app.kubernetes.io/component';

/**
 * Annotation of a PodAllocation (added): when its node's agent was alive, by that agent's clock (RFC 3339). The agent renews one
 * object of its node in turn, so a node is alive as long as any of its objects keeps changing. Readers time the changes by
 * their own clock and never compare this with it: a node's clock may be wrong. No field of the spec, as those raise the
 * generation, which the status then has to follow (adr/0025). Older agents renewed `spec.renewTime`.
 */
export const RENEWED_ANNOTATION = 'mbcas.io/renewed-at';

const MAX_LABEL_VALUE = 63;

/** A node's name as label value: itself, or where it is too long its end, which tells nodes of one pool apart. */
export function nodeLabelValue(nodeName: string): string {
  if (nodeName.length <= MAX_LABEL_VALUE) return nodeName;
  return nodeName.slice(-MAX_LABEL_VALUE).replace(/^[^A-Za-z0-9]+/, '');
}

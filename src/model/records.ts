/**
 * Records: the few fields of each API object that decisions need. A pod record stays under 1 KB of heap because
 * everything that comes from the pod template is one interned {@link PodTemplate} shared by all pods made from it.
 */
import type { LabelSelector } from '../api/core.ts';
import type { Bytes, EpochMillis, Millicores, Millis } from '../lib/units.ts';
import type { PodSizing, SizedWorkload } from './sizing-records.ts';

/** Where a replica is meant to run. */
export type Side = 'spot' | 'on-demand';
/** What a node is. `unknown` never counts towards the on-demand floor. */
export type NodeClass = Side | 'unknown';

export type Labels = Readonly<Record<string, string>>;

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export interface Toleration {
  /** Empty with operator Exists tolerates every key. */
  readonly key: string;
  readonly operator: 'Equal' | 'Exists';
  readonly value: string;
  /** Empty matches every effect. */
  readonly effect: '' | Taint['effect'];
}

export interface SelectorExpression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values: readonly string[];
}

/** One ORed term of a required node affinity; all its expressions must hold. An empty term matches nothing. */
export interface NodeSelectorTerm {
  readonly expressions: readonly SelectorExpression[];
  /** Only `metadata.name` exists as a field. */
  readonly fields: readonly SelectorExpression[];
}

export interface ComputeResources {
  readonly cpuMillis: Millicores;
  readonly memoryBytes: Bytes;
}

export interface NodeRecord {
  readonly name: string;
  readonly uid: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly ready: boolean;
  /** Cordoned: `spec.unschedulable`. */
  readonly unschedulable: boolean;
  /** Has a deletion timestamp. */
  readonly deleting: boolean;
  readonly allocatable: ComputeResources;
  /** What else it has of what {@link PodTemplate.extraRequests} names; undefined where there is nothing. */
  readonly extraAllocatable?: Readonly<Record<string, number>> | undefined;
  /** Allocatable number of pods. */
  readonly maxPods: number;
  readonly createdAt: EpochMillis;
  /** `status.declaredFeatures` (KEP-5328); undefined where the kubelet declares none. */
  readonly declaredFeatures?: readonly string[] | undefined;
}

/** A controller owner reference (`controller: true`). */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** What all pods made from one template and steered to one side share, but for requests of a resized one. Interned. */
export interface PodTemplate {
  /** Without the labels that differ per pod of a StatefulSet (pod name, pod index). */
  readonly labels: Labels;
  readonly nodeSelector: Labels;
  /** Required node affinity: ORed terms; undefined when the pod has none. */
  readonly requiredNodeTerms: readonly NodeSelectorTerm[] | undefined;
  readonly tolerations: readonly Toleration[];
  /** Effective requests as the scheduler counts them: containers, init containers, sidecars, overhead. */
  readonly requests: ComputeResources;
  /** What else of which a node has only so much, by name: devices, local storage, huge pages. Left out: nothing. */
  readonly extraRequests?: Readonly<Record<string, number>> | undefined;
  /** It claims devices (`spec.resourceClaims`), and which nodes have those is not known. Left out: it claims none. */
  readonly claimsDevices?: true | undefined;
  /** Required affinity or anti-affinity to pods, or DoNotSchedule spread: other pods may keep it from running. */
  readonly hasPodPlacementRules: boolean;
  /** Required affinity to pods, and anti-affinity to its like; left out: there is none. */
  readonly podAffinity?: readonly PodAffinityRule[] | undefined;
  /** Topology spread constraints with DoNotSchedule; left out: there are none. */
  readonly spread?: readonly SpreadRule[] | undefined;
  readonly terminationGraceSeconds: number;
  /** What the pods would rather have of nodes; only where they say something. */
  readonly preferences?: PlacementPreferences | undefined;
}

/** One term of required affinity (`together`) or anti-affinity (`apart`) between pods. */
export interface PodAffinityRule {
  readonly kind: 'together' | 'apart';
  readonly topologyKey: string;
  readonly selector: LabelSelector | undefined;
  /** The selector picks the pod itself, and so the others of its workload. Always so for `apart`. */
  readonly isOwn: boolean;
  /** Pods of other namespaces may count as well. */
  readonly isElsewhere: boolean;
  /** The only namespaces whose pods count, where they are listed; left out: its own, and others where `isElsewhere`. */
  readonly namespaces?: readonly string[] | undefined;
}

/** A required topology spread constraint: no domain has more than `maxSkew` pods above the one that has fewest. */
export interface SpreadRule {
  readonly topologyKey: string;
  readonly maxSkew: number;
  /** With fewer domains than this the fewest count as 0. At least 1. */
  readonly minDomains: number;
  /** Which pods of the namespace are counted; undefined: none. */
  readonly selector: LabelSelector | undefined;
  /** Labels whose values the pods must share with the new one. */
  readonly matchLabelKeys: readonly string[];
  /** `nodeAffinityPolicy: Honor`: nodes that the pod excludes are in no domain. */
  readonly honorsAffinity: boolean;
  /** `nodeTaintsPolicy: Honor`: nor are nodes whose taints it does not tolerate. */
  readonly honorsTaints: boolean;
}

export interface PlacementPreferences {
  /** Preferred node affinity. */
  readonly nodeTerms: readonly { readonly weight: number; readonly term: NodeSelectorTerm }[];
  /** Topology keys over which the pods are to be spread among their like. */
  readonly spreadKeys: readonly string[];
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface PodRecord {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly owner: OwnerReference | undefined;
  readonly template: PodTemplate;
  readonly phase: PodPhase;
  readonly ready: boolean;
  /** When the Ready condition last changed. */
  readonly readyChangedAt: EpochMillis | undefined;
  readonly nodeName: string | undefined;
  /** PodScheduled=False with reason Unschedulable since this instant. */
  readonly unschedulableSince: EpochMillis | undefined;
  readonly createdAt: EpochMillis;
  /** Deletion timestamp; present means the pod is terminating. */
  readonly deletingAt: EpochMillis | undefined;
  /** Somebody evicted it through the API: seen for a moment before it is deleted. Left out: nobody did. */
  readonly evictedAt?: EpochMillis | undefined;
  /** Stamps written at admission. */
  readonly slot: number | undefined;
  readonly capacity: Side | undefined;
  readonly admissionId: string | undefined;
  readonly unconfirmed: boolean;
  /** Runs on on-demand as temporary cover for a slot of spot. */
  readonly fallback: boolean;
  /** Something besides its template and Stowage chose the side when it was made; left out: nothing did. */
  readonly pinned?: boolean | undefined;
  /** `controller.kubernetes.io/pod-deletion-cost`; 0 when absent or malformed. */
  readonly deletionCost: number;
  /**
   * The annotation key that forbids voluntary disruption (`karpenter.sh/do-not-disrupt`, `…/safe-to-evict: "false"`,
   * `…/prefer-no-eviction`).
   */
  readonly protectedBy: string | undefined;
  /** Names of PersistentVolumeClaims; a bound claim ties the pod to a zone. */
  readonly claims: readonly string[];
  /** An in-place resize is pending or in progress. */
  readonly resizing: boolean;
  /** Kept only while an engine that sizes is on. Read it through a SizingView: what is kept here may not be spread. */
  readonly sizing?: PodSizing | undefined;
}

/** A replica-managing owner: Deployment, StatefulSet, or any other owner of ReplicaSets. */
export interface WorkloadRecord {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly createdAt: EpochMillis;
  readonly deleting: boolean;
  /** The label `spotalis.io/enabled` is exactly "true". */
  readonly enabled: boolean;
  /** Annotations with the prefix `spotalis.io/`, raw. */
  readonly annotations: Labels;
  /** `spec.replicas` with the API's default of 1. */
  readonly replicas: number;
  readonly selector: LabelSelector | undefined;
  readonly template: PodTemplate;
  readonly paused: boolean;
  /** `spec.minReadySeconds`: how long a pod must be ready before its owner relies on it. Left out: not at all. */
  readonly minReadyMillis?: Millis;
  readonly rollout: RolloutStrategy;
  readonly status: WorkloadStatus;
  /** Kept only while an engine that sizes is on. */
  readonly sized?: SizedWorkload | undefined;
}

export type RolloutStrategy =
  | { readonly type: 'RollingUpdate'; readonly maxSurge: number; readonly maxUnavailable: number }
  | { readonly type: 'Recreate' }
  /**
   * StatefulSet. `start` is `spec.ordinals.start`; the first `partition` pods, counted from there, keep the old revision.
   */
  | {
      readonly type: 'StatefulSet';
      readonly start: number;
      readonly partition: number;
      readonly onDelete: boolean;
      readonly orderedReady: boolean;
    };

export interface WorkloadStatus {
  readonly replicas: number;
  readonly updated: number;
  readonly ready: number;
  readonly available: number;
  /** Deployment condition Progressing=False with reason ProgressDeadlineExceeded since this instant. */
  readonly stuckSince: EpochMillis | undefined;
  /** StatefulSet: status.currentRevision / updateRevision. */
  readonly currentRevision: string | undefined;
  readonly updateRevision: string | undefined;
}

export interface ReplicaSetRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly owner: OwnerReference | undefined;
  /** Label `pod-template-hash` (Argo Rollouts: `rollouts-pod-template-hash`): the revision. */
  readonly revision: string;
  readonly replicas: number;
  readonly createdAt: EpochMillis;
  /** The workload it is itself, where nobody owns it. */
  readonly workload?: WorkloadRecord | undefined;
}

export interface PdbRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly selector: LabelSelector | undefined;
  readonly disruptionsAllowed: number;
  /** False while status lags behind spec: `disruptionsAllowed` must not be trusted. */
  readonly observed: boolean;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  /** `spec.unhealthyPodEvictionPolicy: AlwaysAllow`. */
  readonly alwaysAllowUnhealthy: boolean;
}

export interface NamespaceRecord {
  readonly name: string;
  readonly labels: Labels;
  /** Annotations with the prefix `spotalis.io/`, raw. */
  readonly annotations: Labels;
  readonly enabled: boolean;
  readonly terminating: boolean;
}

/** A bound volume claim: the node affinity of its volume, so a pod using it can only run where that holds. */
export interface VolumeClaimRecord {
  readonly namespace: string;
  readonly name: string;
  readonly bound: boolean;
  readonly requiredNodeTerms: readonly NodeSelectorTerm[] | undefined;
}

/**
 * What sizing decisions (rightsizing, allocation) need of pods and workloads beside the placement records. Kept only
 * while one of those engines is on. Sizes and container lists are interned: replicas of one template share them.
 */
import type { LabelSelector } from '../api/core.ts';
import type { Bytes, EpochMillis, Millicores, Millis } from '../lib/units.ts';
import type { Labels, OwnerReference } from './records.ts';

/** CPU and memory of one container; a missing key is a resource that is not set. Whole millicores and bytes. */
export interface ContainerSize {
  readonly cpuRequest?: Millicores;
  readonly cpuLimit?: Millicores;
  readonly memoryRequest?: Bytes;
  readonly memoryLimit?: Bytes;
}

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** A container as the template or the pod's spec has it. Interned. */
export interface ContainerSpecRecord {
  readonly name: string;
  /** A restartable init container (native sidecar, KEP-753). Run-once init containers have no record. */
  readonly isSidecar: boolean;
  readonly size: ContainerSize;
  /** `resizePolicy` (KEP-1287): what a resize of the resource costs; `NotRequired` where not said. */
  readonly cpuRestart: 'NotRequired' | 'RestartContainer';
  readonly memoryRestart: 'NotRequired' | 'RestartContainer';
  readonly hasReadinessProbe: boolean;
}

/** How a container ended. */
export interface TerminationRecord {
  readonly reason: string;
  readonly exitCode: number;
  /** By the clock of its node. */
  readonly finishedAt: EpochMillis | undefined;
  /** When it was seen, where what the node tells cannot be; see `endedAt`. */
  readonly seenAt?: EpochMillis;
}

export interface ContainerStatusRecord {
  readonly name: string;
  readonly running: boolean;
  readonly ready: boolean;
  readonly startedAt: EpochMillis | undefined;
  readonly restartCount: number;
  readonly lastTermination: TerminationRecord | undefined;
  /** `status.containerStatuses[].resources`: what is in force on the node; undefined where the kubelet does not say. */
  readonly actual: ContainerSize | undefined;
  /** `allocatedResources`: the requests the kubelet has admitted; undefined where it does not say. */
  readonly allocated: ContainerSize | undefined;
}

/** KEP-1287 conditions. */
export interface ResizeState {
  /** PodResizePending. */
  readonly pending:
    | { readonly reason: 'Deferred' | 'Infeasible'; readonly message: string; readonly since: EpochMillis | undefined }
    | undefined;
  /** PodResizeInProgress; `error` is the message where its reason is Error. */
  readonly inProgress: { readonly error: string | undefined; readonly since: EpochMillis | undefined } | undefined;
}

export interface PodSizing {
  readonly qos: QosClass;
  readonly containers: readonly ContainerSpecRecord[];
  readonly statuses: readonly ContainerStatusRecord[];
  /** `spec.resources` is set: limits and requests of the whole pod (KEP-2837). */
  readonly hasPodLevelResources: boolean;
  /** A static (mirror) pod: its spec is a file on the node. */
  readonly isStatic: boolean;
  readonly os: 'linux' | 'windows';
  readonly priority: number;
  readonly priorityClassName: string;
  /** `spec.activeDeadlineSeconds` is set: to quotas such a pod is one that ends. */
  readonly hasDeadline?: true | undefined;
  readonly resize: ResizeState;
  readonly generation: number;
  /** `status.observedGeneration`; undefined where the kubelet does not say. */
  readonly observedGeneration: number | undefined;
  /** Annotations with the prefixes `optipod.io/` and `mbcas.io/`, and `mbcas.io/` labels. */
  readonly marks: Labels;
  /** Field managers that own `resources` of a container other than through the pod's creation. */
  readonly sizeManagers: readonly string[];
}

export interface SizedWorkload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAt: EpochMillis;
  readonly deleting: boolean;
  /** The controller of the object itself: autoscalers may be told of that one. Left out: it has none. */
  readonly owner?: Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>;
  /** Labels of the object itself, not of its template: policies select by these. */
  readonly labels: Labels;
  /** Annotations with the prefixes `optipod.io/` and `mbcas.io/`. */
  readonly annotations: Labels;
  readonly replicas: number;
  /** A rollout is under way: template and pods differ. */
  readonly isRollingOut: boolean;
  /**
   * Why a new template reaches no pod: the rollout is paused (`spec.paused`), or pods are replaced only when somebody
   * deletes them (`OnDelete`). Left out: it is rolled out.
   */
  readonly keepsPods?: 'Paused' | 'OnDelete';
  /** A rollout of it makes a new pod before an old one goes: it lets none be unavailable. Left out: it does not. */
  readonly needsSurge?: true;
  /** Its rollout has made no progress for longer than it may (`spec.progressDeadlineSeconds`). Left out: not so. */
  readonly isStuck?: true;
  /**
   * Since when its pods are refused for what does not pass, as a full quota may: a policy, a LimitRange, a webhook. Left
   * out: they are not, or its kind does not tell.
   */
  readonly refusedSince?: EpochMillis;
  /** `spec.minReadySeconds`: how long a pod must be ready before its owner relies on it. Left out: not at all. */
  readonly minReadyMillis?: Millis;
  readonly selector: LabelSelector | undefined;
  /** Containers and sidecars of the pod template, in order. */
  readonly containers: readonly ContainerSpecRecord[];
  /**
   * A run-once init container without full limits makes its pods Burstable, whatever sizes the others have. Left out:
   * none does.
   */
  readonly isNeverGuaranteed?: true;
  /** Field managers that own resources in the template, by container: `{"nginx": ["argocd-controller"]}`. */
  readonly templateManagers: Readonly<Record<string, readonly string[]>>;
}

/** One LimitRange item of type Container or Pod; a missing key is not limited. */
export interface LimitRangeRecord {
  readonly namespace: string;
  readonly name: string;
  readonly type: 'Container' | 'Pod';
  readonly min: ComputeAmounts;
  readonly max: ComputeAmounts;
  readonly defaultRequest: ComputeAmounts;
  readonly defaultLimit: ComputeAmounts;
  readonly maxLimitRequestRatio: { readonly cpu?: number; readonly memory?: number };
}

export interface ComputeAmounts {
  readonly cpu?: Millicores;
  readonly memory?: Bytes;
}

export interface QuotaRecord {
  readonly namespace: string;
  readonly name: string;
  /**
   * `requests.cpu` (or `cpu`), `requests.memory` (or `memory`), `limits.cpu`, `limits.memory` that are limited, with
   * what is used.
   */
  readonly hard: QuotaAmounts;
  readonly used: QuotaAmounts;
  /** Scopes and scope selector: undefined when the quota counts every pod. */
  readonly scopes: readonly string[] | undefined;
}

export interface QuotaAmounts {
  readonly cpuRequest?: Millicores;
  readonly cpuLimit?: Millicores;
  readonly memoryRequest?: Bytes;
  readonly memoryLimit?: Bytes;
}

export interface HpaRecord {
  readonly namespace: string;
  readonly name: string;
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  /** `status.lastScaleTime`. */
  readonly lastScaleAt?: EpochMillis;
  /** Resources scaled by utilization of the request, with the target in percent. */
  readonly utilization: { readonly cpu?: number; readonly memory?: number };
  /** Utilization of one container (ContainerResource metrics): resource and container. */
  readonly containerUtilization: readonly {
    readonly container: string;
    readonly resource: 'cpu' | 'memory';
    readonly percent: number;
  }[];
}

/** A VerticalPodAutoscaler, in whichever mode; whether it writes sizes says `actingVpa`. */
export interface VpaRecord {
  readonly namespace: string;
  readonly name: string;
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly updateMode: string;
}

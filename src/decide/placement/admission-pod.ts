/**
 * The pod of an admission request, reduced to what the decision and its patch need. What a patch has to keep is kept as
 * it was written, fields of newer API versions included.
 */
import { placementKeys } from '../../api/annotations.ts';
import { type PodStamps, parseStamps } from '../../api/annotations-values.ts';
import type { Pod } from '../../api/core.ts';
import type { OwnerReference, PodTemplate } from '../../model/records.ts';

type PodSpec = NonNullable<Pod['spec']>;
type NodeAffinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>;
export type RawNodeSelectorTerm = NonNullable<
  NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'][number];

export interface AdmissionPod {
  /** Pods of a StatefulSet have their name already; a ReplicaSet's get it after admission. */
  readonly name: string | undefined;
  readonly owner: OwnerReference | undefined;
  readonly template: PodTemplate;
  readonly nodeName: string | undefined;
  readonly isMirror: boolean;
  /** All three stamps are there and valid: the pod was through this webhook already. */
  readonly stamp: PodStamps | undefined;
  /** The user set one, which is then left as it is. */
  readonly hasDeletionCost: boolean;
  /** Which parents of what the patch adds exist already. */
  readonly has: {
    readonly annotations: boolean;
    readonly nodeSelector: boolean;
    readonly affinity: boolean;
    readonly nodeAffinity: boolean;
    /** Preferred node affinity; default false. */
    readonly preferences?: boolean;
    readonly tolerations: boolean;
  };
  /** Required node affinity as written; undefined when there is none. */
  readonly requiredTerms: readonly RawNodeSelectorTerm[] | undefined;
  /** Names of its PersistentVolumeClaims; default none. */
  readonly claims?: readonly string[];
}

/**
 * What the kubelet marks the API's copy of a static pod with; such a pod runs already, so nothing about it can be
 * steered.
 */
const MIRROR = 'kubernetes.io/config.mirror';

/**
 * Reads what the API server sent, which is not validated yet: any part may be missing or null. Never throws.
 * @param template the projection of the same pod's spec.
 * @param owner its controller owner.
 */
export function readAdmissionPod(pod: Pod, template: PodTemplate, owner: OwnerReference | undefined): AdmissionPod {
  const { metadata, spec } = pod;
  const annotations = isPresent(metadata?.annotations) ? metadata.annotations : undefined;
  const affinity = isPresent(spec?.affinity) ? spec.affinity : undefined;
  const nodeAffinity = isPresent(affinity?.nodeAffinity) ? affinity.nodeAffinity : undefined;
  const required = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return {
    name: metadata?.name === '' ? undefined : metadata?.name,
    owner,
    template,
    nodeName: spec?.nodeName === '' ? undefined : spec?.nodeName,
    isMirror: annotations?.[MIRROR] !== undefined,
    stamp: parseStamps(annotations),
    hasDeletionCost: annotations?.[placementKeys.podDeletionCost] !== undefined,
    has: {
      annotations: annotations !== undefined,
      nodeSelector: isPresent(spec?.nodeSelector),
      affinity: affinity !== undefined,
      nodeAffinity: nodeAffinity !== undefined,
      preferences: isPresent(nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
      tolerations: isPresent(spec?.tolerations),
    },
    requiredTerms: isPresent(required) ? (required.nodeSelectorTerms ?? []) : undefined,
  };
}

/** JSON null counts as absent: it can stand where the type says an object. */
function isPresent<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

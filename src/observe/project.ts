/** The tolerant form of all projections: an object that cannot be read is skipped with one message, never a crash. */
import type {
  Deployment,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  StatefulSet,
} from '../api/core.ts';
import type { ResourceType } from '../api/resources.ts';
import type {
  NamespaceRecord,
  NodeRecord,
  PdbRecord,
  PodRecord,
  ReplicaSetRecord,
  WorkloadRecord,
} from '../model/records.ts';
import {
  type ClaimRecord,
  projectClaim,
  projectNamespace,
  projectPdb,
  projectVolume,
  type VolumeRecord,
} from './project-cluster.ts';
import { projectNode } from './project-node.ts';
import { type OwnerObject, projectOwner } from './project-owner.ts';
import { createPodInterners, type PodInterners, projectPod } from './project-pod.ts';
import { projectReplicaSet } from './project-replica-set.ts';
import { projectDeployment, projectStatefulSet } from './project-workload.ts';
import { createSizingInterners } from './sizing/sizing-interners.ts';
import { createSizingProjections } from './sizing/sizing-projections.ts';
import { createTolerantReader } from './tolerant-reader.ts';

/** Each function answers undefined for an object it cannot read, after telling `onSkipped`. */
export interface Projections {
  readonly pod: (object: Pod) => PodRecord | undefined;
  readonly node: (object: Node) => NodeRecord | undefined;
  readonly namespace: (object: Namespace) => NamespaceRecord | undefined;
  readonly deployment: (object: Deployment) => WorkloadRecord | undefined;
  readonly statefulSet: (object: StatefulSet) => WorkloadRecord | undefined;
  /** Of another owner of ReplicaSets, of the given type. */
  readonly owner: (type: ResourceType) => (object: OwnerObject) => WorkloadRecord | undefined;
  readonly replicaSet: (object: ReplicaSet) => ReplicaSetRecord | undefined;
  readonly pdb: (object: PodDisruptionBudget) => PdbRecord | undefined;
  readonly claim: (object: PersistentVolumeClaim) => ClaimRecord | undefined;
  readonly volume: (object: PersistentVolume) => VolumeRecord | undefined;
}

/** Values of a kind kept for sharing. */
const MAX_INTERNED = 50_000;
/** Sizes and marks change while pods run; what is no longer used is kept until it is pushed out. */
const MAX_SIZES = 5_000;

/**
 * @param onSkipped receives one sentence for people: which object was skipped and why; see {@link
 * createTolerantReader}.
 * @param sizing also keeps what sizing needs of pods and workloads.
 */
export function createProjections(onSkipped: (message: string) => void, { sizing = false } = {}): Projections {
  const interners: PodInterners = {
    ...createPodInterners(MAX_INTERNED),
    ...(sizing && { sizing: createSizingProjections(createSizingInterners(MAX_SIZES), onSkipped) }),
  };
  const tolerant = createTolerantReader('was skipped', onSkipped);
  return {
    pod: tolerant('Pod', (pod: Pod) => projectPod(pod, interners)),
    node: tolerant('Node', projectNode),
    namespace: tolerant('Namespace', projectNamespace),
    deployment: tolerant('Deployment', (object: Deployment) => projectDeployment(object, interners)),
    statefulSet: tolerant('StatefulSet', (object: StatefulSet) => projectStatefulSet(object, interners)),
    owner: (type) => tolerant(type.kind, (object: OwnerObject) => projectOwner(object, type, interners)),
    replicaSet: tolerant('ReplicaSet', (object: ReplicaSet) => projectReplicaSet(object, interners)),
    pdb: tolerant('PodDisruptionBudget', projectPdb),
    claim: tolerant('PersistentVolumeClaim', projectClaim),
    volume: tolerant('PersistentVolume', projectVolume),
  };
}

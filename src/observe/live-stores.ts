/** The informers behind the live view, one a resource type, each keeping records instead of objects. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import { createInformer, type Informer } from '../kube/informer.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type {
  NamespaceRecord,
  NodeRecord,
  PdbRecord,
  PodRecord,
  ReplicaSetRecord,
  WorkloadRecord,
} from '../model/records.ts';
import { createProjections } from './project.ts';
import type { ClaimRecord, VolumeRecord } from './project-cluster.ts';

export interface LiveStores {
  readonly pods: Informer<PodRecord>;
  readonly nodes: Informer<NodeRecord>;
  readonly namespaces: Informer<NamespaceRecord>;
  readonly deployments: Informer<WorkloadRecord>;
  readonly statefulSets: Informer<WorkloadRecord>;
  readonly replicaSets: Informer<ReplicaSetRecord>;
  readonly pdbs: Informer<PdbRecord>;
  readonly claims: Informer<ClaimRecord>;
  readonly volumes: Informer<VolumeRecord>;
}

export interface LiveStoresOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Nothing is listed before {@link Informer.run} is called on each. */
export function createLiveStores(options: LiveStoresOptions): LiveStores {
  const { log } = options;
  const project = createProjections((message) => log.warn({}, message));
  const informer = <T extends KubeObject, R>(
    type: ResourceType<T>,
    projection: (object: T) => R | undefined,
    isEqual?: (before: R, after: R) => boolean,
  ): Informer<R> => createInformer({ ...options, type, project: projection, ...(isEqual && { isEqual }) });
  return {
    pods: informer(resources.pods, project.pod),
    // Heartbeats and image lists change nodes all the time without changing their records.
    nodes: informer(resources.nodes, project.node, isDeepStrictEqual),
    namespaces: informer(resources.namespaces, project.namespace, isDeepStrictEqual),
    deployments: informer(resources.deployments, project.deployment),
    statefulSets: informer(resources.statefulSets, project.statefulSet),
    replicaSets: informer(resources.replicaSets, project.replicaSet, isDeepStrictEqual),
    pdbs: informer(resources.podDisruptionBudgets, project.pdb, isDeepStrictEqual),
    claims: informer(resources.persistentVolumeClaims, project.claim, isDeepStrictEqual),
    volumes: informer(resources.persistentVolumes, project.volume, isDeepStrictEqual),
  };
}

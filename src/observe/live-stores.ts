/** The informers behind the live view, one a resource type, each keeping records instead of objects. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import { createInformer, type Informer, type InformerOptions } from '../kube/informer.ts';
import { parseResourceVersion } from '../kube/resource-version.ts';
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
import type { Sides } from '../model/sides.ts';
import { createAssumedInformer } from './assumed-informer.ts';
import { createPodCompactor } from './compact-pod.ts';
import { inferNodes } from './inferred-nodes.ts';
import { joinInformers } from './joined-informer.ts';
import { createOddClocks, type OddClocks } from './odd-clocks.ts';
import { createProjections, type Projections } from './project.ts';
import type { ClaimRecord, VolumeRecord } from './project-cluster.ts';
import { createSeenTimes } from './seen-times.ts';

/** The informers behind one view. Keys are `namespace/name`, or `name` for what belongs to no namespace. */
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
  /** Reads only these namespaces and nothing that belongs to none; left out, the whole cluster. */
  readonly scope?: NamespaceScope | undefined;
  /** An engine that sizes is on: pods and workloads keep what it needs, about as much memory again. Default no. */
  readonly sizing?: boolean | undefined;
  /** Where clocks that are off are noted; default: in the log only. */
  readonly oddClocks?: OddClocks | undefined;
}

/** What an operator with Roles in place of a ClusterRole may see. */
export interface NamespaceScope {
  /**
   * At least one. All of them are enabled: their labels may not be read, and listing them is the administrator's word
   * for it.
   */
  readonly namespaces: readonly string[];
  /** Tells the side of a node from the pods on it. */
  readonly sides: Sides;
}

/** Most pods of a cluster are in one of a few states; those of pods on their way are soon no longer used. */
const MAX_POD_STATES = 1_000;

/** Nothing is listed before {@link Informer.run} is called on each. */
export function createLiveStores(options: LiveStoresOptions): LiveStores {
  const { log } = options;
  const project = createProjections((message) => log.warn({}, message), { sizing: options.sizing === true });
  const informer = <T extends KubeObject, R>(
    type: ResourceType<T>,
    projection: (object: T) => R | undefined,
    isEqual?: (before: R, after: R) => boolean,
  ): Informer<R> => informerIn(options, type, { ...options, type, project: projection, ...(isEqual && { isEqual }) });
  const compact = createPodCompactor(MAX_POD_STATES);
  const seen = createSeenTimes({
    clock: options.clock,
    isFollowing: () => pods.freshness() === 'fresh',
    clocks: options.oddClocks ?? createOddClocks(log, options.clock),
  });
  const pods: Informer<PodRecord> = informerIn(options, resources.pods, {
    ...options,
    type: resources.pods,
    project: (object, before: PodRecord | undefined) => {
      const pod = project.pod(object);
      const graceMillis = (object.metadata?.deletionGracePeriodSeconds ?? 0) * 1000;
      return pod && seen.date({ pod, before, graceMillis }, (dated) => compact(dated, before));
    },
    originOf: ({ uid, name, resourceVersion }) => ({ uid, name, version: parseResourceVersion(resourceVersion) }),
  });
  return {
    pods,
    ...clusterWide(options, project, pods),
    deployments: informer(resources.deployments, project.deployment),
    statefulSets: informer(resources.statefulSets, project.statefulSet),
    replicaSets: informer(resources.replicaSets, project.replicaSet, isDeepStrictEqual),
    pdbs: informer(resources.podDisruptionBudgets, project.pdb, isDeepStrictEqual),
    claims: informer(resources.persistentVolumeClaims, project.claim, isDeepStrictEqual),
  };
}

/** An informer of the whole cluster, or of each namespace in scope. */
export function informerIn<T extends KubeObject, R>(
  { scope }: Pick<LiveStoresOptions, 'scope'>,
  type: ResourceType<T>,
  options: InformerOptions<T, R>,
): Informer<R> {
  if (scope === undefined || !type.namespaced) return createInformer(options);
  const each = scope.namespaces.map(
    (namespace) => [namespace, createInformer({ ...options, selection: { namespace } })] as const,
  );
  return joinInformers(new Map(each), options.clock);
}

/** What belongs to no namespace; where it may not be read, what can be said of it all the same. */
function clusterWide(
  options: LiveStoresOptions,
  project: Projections,
  pods: Informer<PodRecord>,
): Pick<LiveStores, 'nodes' | 'namespaces' | 'volumes'> {
  const { scope } = options;
  if (scope === undefined) {
    const isEqual = isDeepStrictEqual;
    return {
      // Heartbeats and image lists change nodes all the time without changing their records.
      nodes: createInformer({ ...options, type: resources.nodes, project: project.node, isEqual }),
      namespaces: createInformer({ ...options, type: resources.namespaces, project: project.namespace, isEqual }),
      volumes: createInformer({ ...options, type: resources.persistentVolumes, project: project.volume, isEqual }),
    };
  }
  const namespaceOf = (name: string, enabled: boolean): NamespaceRecord => ({
    name,
    labels: {},
    annotations: {},
    enabled,
    terminating: false,
  });
  return {
    nodes: inferNodes(pods, scope.sides),
    namespaces: createAssumedInformer({
      records: scope.namespaces.map((name) => [name, namespaceOf(name, true)] as const),
      otherwise: (name) => namespaceOf(name, false),
    }),
    // Where a volume can be reached is not known, so no node is good enough for a pod that uses one.
    volumes: createAssumedInformer<VolumeRecord>({ otherwise: (name) => ({ name, requiredNodeTerms: [] }) }),
  };
}

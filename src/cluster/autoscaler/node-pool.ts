/** Pools of equal machines: what a node made from one looks like, and what it costs. Pure. */
import type { Bytes, Millicores } from '../../lib/units.ts';
import type { NodeSpec } from '../kubelet/node-object.ts';
import type { Taint } from '../scheduler/node-matching.ts';

export type CapacityClass = 'spot' | 'on-demand';
/** Whose labels and taints say what a node is; see the model's node profiles for the reading side. */
export type PoolProfile = 'karpenter' | 'eks' | 'gke' | 'aks' | 'castai';

/** Machines of one kind and class, over zones. */
export interface NodePool {
  readonly name: string;
  readonly class: CapacityClass;
  readonly zones: readonly string[];
  readonly instanceType: string;
  readonly cpuMillis: Millicores;
  readonly memoryBytes: Bytes;
  /** Price of a node an hour, in any currency. */
  readonly pricePerHour: number;
  /** Default 0. */
  readonly minNodes?: number;
  /** Default unlimited. */
  readonly maxNodes?: number;
  /** From asking the cloud to a ready node. Default 40 s. */
  readonly provisionMillis?: number;
  /** Default `karpenter`. */
  readonly profile?: PoolProfile;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  /** Expected interruptions of a node an hour; spot only. Default 0. */
  readonly interruptionsPerHour?: number;
  readonly maxPods?: number;
}

/** Kept back on each node, as managed clusters do; the amounts are those of a common 4-core machine. */
const RESERVED = { cpuMillis: 80, memoryBytes: 700 * 1024 * 1024 } as const;

/** The markers of its profile come first, so that a pool's own labels may say otherwise. */
export function nodeSpecOf(pool: NodePool, zone: string, name: string): NodeSpec {
  const { labels, taints } = markersOf(pool);
  const allTaints = [...taints, ...(pool.taints ?? [])];
  return {
    name,
    labels: {
      'node.kubernetes.io/instance-type': pool.instanceType,
      'topology.kubernetes.io/zone': zone,
      'topology.kubernetes.io/region': zone.replace(/-?[a-z]$/, ''),
      ...labels,
      ...pool.labels,
    },
    ...(allTaints.length === 0 ? {} : { taints: allTaints }),
    cpuMillis: pool.cpuMillis,
    memoryBytes: pool.memoryBytes,
    reserved: RESERVED,
    ...(pool.maxPods === undefined ? {} : { maxPods: pool.maxPods }),
    providerId: `simulated:///${zone}/${name}`,
  };
}

/** The taint that tells everybody a node of this pool is about to go. */
export function leavingTaintOf(profile: PoolProfile): Taint {
  switch (profile) {
    case 'karpenter':
      return { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };
    case 'eks':
      return { key: 'aws-node-termination-handler/spot-itn', effect: 'NoSchedule' };
    case 'gke':
      return { key: 'cloud.google.com/impending-node-termination', effect: 'NoSchedule' };
    case 'aks':
    case 'castai':
      return { key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' };
  }
}

/** Notice before a spot machine is taken: two minutes on AWS, half a minute elsewhere. */
export function noticeMillisOf(profile: PoolProfile): number {
  return profile === 'gke' || profile === 'aks' ? 30_000 : 120_000;
}

function markersOf(pool: NodePool): { labels: Record<string, string>; taints: readonly Taint[] } {
  const isSpot = pool.class === 'spot';
  switch (pool.profile ?? 'karpenter') {
    case 'karpenter':
      return {
        labels: {
          'karpenter.sh/capacity-type': pool.class,
          'karpenter.sh/nodepool': pool.name,
          'karpenter.sh/registered': 'true',
          'karpenter.sh/initialized': 'true',
        },
        taints: [],
      };
    case 'eks':
      return {
        labels: {
          'eks.amazonaws.com/capacityType': isSpot ? 'SPOT' : 'ON_DEMAND',
          'eks.amazonaws.com/nodegroup': pool.name,
        },
        taints: [],
      };
    case 'gke':
      return {
        labels: {
          'cloud.google.com/gke-nodepool': pool.name,
          ...(isSpot ? { 'cloud.google.com/gke-spot': 'true' } : {}),
        },
        taints: isSpot ? [{ key: 'cloud.google.com/gke-spot', value: 'true', effect: 'NoSchedule' }] : [],
      };
    case 'aks':
      return {
        labels: { agentpool: pool.name, ...(isSpot ? { 'kubernetes.azure.com/scalesetpriority': 'spot' } : {}) },
        taints: isSpot ? [{ key: 'kubernetes.azure.com/scalesetpriority', value: 'spot', effect: 'NoSchedule' }] : [],
      };
    case 'castai':
      return {
        labels: isSpot ? { 'scheduling.cast.ai/spot': 'true' } : {},
        taints: isSpot ? [{ key: 'scheduling.cast.ai/spot', value: 'true', effect: 'NoSchedule' }] : [],
      };
  }
}

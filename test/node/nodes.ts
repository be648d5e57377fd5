/** The nodes of the suites, each offering a part of the machine: one spot, one on-demand, and one with the static CPU manager. */
import type { RealNodeSpec } from './runtime/real-node.ts';

const CAPACITY_TYPE = 'karpenter.sh/capacity-type';

/** 1.5 CPUs each on a machine of two: enough for the suites, and small enough to fill. */
function nodeSpec(name: string, capacityType: string): RealNodeSpec {
  return {
    name,
    labels: { [CAPACITY_TYPE]: capacityType, 'karpenter.sh/nodepool': capacityType },
    reserved: { cpu: '500m', memory: '2Gi' },
  };
}

export const SPOT_NODE = 'spot-1';
export const ON_DEMAND_NODE = 'on-demand-1';

/** Its kubelet gives Guaranteed pods with whole CPUs some of their own; for the behaviours that depend on that. */
export const PINNED_NODE = 'pinned-1';

export const clusterNodes: readonly RealNodeSpec[] = [
  nodeSpec(SPOT_NODE, 'spot'),
  nodeSpec(ON_DEMAND_NODE, 'on-demand'),
  {
    name: PINNED_NODE,
    reserved: { cpu: '500m', memory: '2Gi' },
    kubelet: {
      cpuManagerPolicy: 'static',
      registerWithTaints: [{ key: 'stowage.test/pinned', effect: 'NoSchedule' }],
    },
  },
];

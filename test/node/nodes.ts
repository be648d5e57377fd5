/** The two nodes of the suites: one spot, one on-demand, each offering a part of the machine. */
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

export const clusterNodes: readonly RealNodeSpec[] = [
  nodeSpec(SPOT_NODE, 'spot'),
  nodeSpec(ON_DEMAND_NODE, 'on-demand'),
];

/** The nodes the suites on a real control plane run on: three spot and three on-demand ones, each class in three zones. */
import type { NodeSpec } from '../../src/cluster/kubelet/node-object.ts';

const GIBIBYTE = 1024 ** 3;
const ZONES = ['eu-test-1a', 'eu-test-1b', 'eu-test-1c'] as const;

/** Labels as Karpenter puts them on the nodes it makes. */
function nodeSpec(capacityType: 'spot' | 'on-demand', zone: string): NodeSpec {
  return {
    name: `${capacityType}-${zone.slice(-1)}`,
    labels: {
      'karpenter.sh/capacity-type': capacityType,
      'karpenter.sh/nodepool': capacityType,
      'topology.kubernetes.io/zone': zone,
      'topology.kubernetes.io/region': 'eu-test-1',
      'node.kubernetes.io/instance-type': 'm.xlarge',
    },
    cpuMillis: 4000,
    memoryBytes: 16 * GIBIBYTE,
    reserved: { cpuMillis: 100, memoryBytes: GIBIBYTE },
    providerId: `simulated:///${zone}/${capacityType}`,
  };
}

/** Names are `spot-a` to `spot-c` and `on-demand-a` to `on-demand-c`, by zone. */
export const sixNodes: readonly NodeSpec[] = (['spot', 'on-demand'] as const).flatMap((capacityType) =>
  ZONES.map((zone) => nodeSpec(capacityType, zone)),
);

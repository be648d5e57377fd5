/** The nodes of the suites, each offering a part of the machine. */
import { availableParallelism } from 'node:os';
import type { Millicores } from '../../src/lib/units.ts';
import type { RealNodeSpec } from './runtime/real-node.ts';

const CAPACITY_TYPE = 'karpenter.sh/capacity-type';

/**
 * The kubelet measures its pods this often, and not every ten seconds as it is: what waits for a measurement (figures of the
 * kubelet, advice, a smaller memory limit) has it sooner.
 */
const measuring = ['--housekeeping-interval=2s'];

/** Kept back, so that the node offers so much of the machine. */
const allBut = (allocatable: Millicores) => ({
  cpu: `${Math.max(0, 1000 * availableParallelism() - allocatable)}m`,
  memory: '2Gi',
});
/** Enough for the suites, and small enough to fill. */
const ALLOCATABLE: Millicores = 1500;

function nodeSpec(name: string, capacityType: string): RealNodeSpec {
  return {
    name,
    labels: { [CAPACITY_TYPE]: capacityType, 'karpenter.sh/nodepool': capacityType },
    reserved: allBut(ALLOCATABLE),
    kubeletFlags: measuring,
  };
}

/** Kept free of all pods but those that are meant for it. */
const reservedFor = (suite: string) => ({
  registerWithTaints: [{ key: `stowage.test/${suite}`, effect: 'NoSchedule' }],
});

export const SPOT_NODE = 'spot-1';
export const ON_DEMAND_NODE = 'on-demand-1';

/** Its kubelet gives Guaranteed pods with whole CPUs some of their own; for the behaviours that depend on that. */
export const PINNED_NODE = 'pinned-1';

/**
 * For pods that take all they can get: they get six tenths of a CPU, whatever the machine has, of which the node offers three
 * quarters. So who wins and who loses there does not depend on the size of the machine, and what else runs on it keeps the rest.
 */
export const SHARED_NODE = 'shared-1';
export const SHARED_ALLOCATABLE: Millicores = 450;

export const clusterNodes: readonly RealNodeSpec[] = [
  nodeSpec(SPOT_NODE, 'spot'),
  nodeSpec(ON_DEMAND_NODE, 'on-demand'),
  {
    name: PINNED_NODE,
    reserved: allBut(ALLOCATABLE),
    kubelet: { cpuManagerPolicy: 'static', ...reservedFor('pinned') },
  },
  {
    name: SHARED_NODE,
    reserved: allBut(SHARED_ALLOCATABLE),
    mostCpu: 600,
    kubelet: reservedFor('shared'),
  },
];

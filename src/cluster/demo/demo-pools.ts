/** The node pools of the demo: four spot and two on-demand offers of a common cloud, with its prices of 2026. */
import type { NodePool } from '../autoscaler/node-pool.ts';

const GIB = 1024 ** 3;
const ZONES = ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'];

/** Prices in US dollars an hour. Spot nodes live ten to thirty hours on average, so that a demo shows some interruptions. */
export const demoPools: readonly NodePool[] = [
  pool('on-demand-m5', 'on-demand', 'm5.xlarge', 4000, 16 * GIB, 0.23, { minNodes: 2 }),
  pool('on-demand-c5', 'on-demand', 'c5.2xlarge', 8000, 16 * GIB, 0.388),
  pool('spot-m5', 'spot', 'm5.xlarge', 4000, 16 * GIB, 0.083, { interruptionsPerHour: 0.1 }),
  pool('spot-m5a', 'spot', 'm5a.xlarge', 4000, 16 * GIB, 0.078, { interruptionsPerHour: 0.07 }),
  pool('spot-c5', 'spot', 'c5.2xlarge', 8000, 16 * GIB, 0.142, { interruptionsPerHour: 0.05 }),
  pool('spot-r5', 'spot', 'r5.xlarge', 4000, 32 * GIB, 0.098, { interruptionsPerHour: 0.03 }),
];

function pool(
  name: string,
  capacityClass: NodePool['class'],
  instanceType: string,
  cpuMillis: number,
  memoryBytes: number,
  pricePerHour: number,
  more: Partial<NodePool> = {},
): NodePool {
  return { name, class: capacityClass, zones: ZONES, instanceType, cpuMillis, memoryBytes, pricePerHour, ...more };
}

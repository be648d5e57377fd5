/** Pools for tests of the autoscaler. */
import type { NodePool } from '../autoscaler/node-pool.ts';

/** Of spot machines where its name says so. */
export const testPool = (name: string, more: Partial<NodePool> = {}): NodePool => ({
  name,
  class: name.startsWith('spot') ? 'spot' : 'on-demand',
  zones: ['eu-1a', 'eu-1b', 'eu-1c'],
  instanceType: 'm5.xlarge',
  cpuMillis: 4000,
  memoryBytes: 16 * 1024 ** 3,
  pricePerHour: name.startsWith('spot') ? 0.08 : 0.2,
  provisionMillis: 40_000,
  ...more,
});

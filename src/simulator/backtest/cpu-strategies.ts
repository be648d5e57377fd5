/** The CPU strategies that are compared, ours first. */
import { createOurCpu } from './our-cpu.ts';
import { createKrrCpu } from './rivals/krr-cpu.ts';
import { createMaxCpu } from './rivals/max-cpu.ts';
import { createOptipodCpu } from './rivals/optipod-cpu.ts';
import { createVpaCpu } from './rivals/vpa-cpu.ts';
import type { NamedStrategy } from './strategy.ts';

export const VPA_NAME = 'vpa-like';

export const cpuStrategies: readonly NamedStrategy[] = [
  { name: 'stowage', description: 'CostAware in one step: least expected cost', create: () => createOurCpu() },
  { name: VPA_NAME, description: 'P90 of a histogram with a half-life of 24 h, x 1.15', create: createVpaCpu },
  { name: 'optipod', description: 'as shipped: P90 of the 24 h average, x 1.2', create: createOptipodCpu },
  { name: 'krr-like', description: 'highest P95 of a pod in 14 days', create: createKrrCpu },
  { name: 'max', description: 'highest of 7 days, x 1.15', create: createMaxCpu },
];

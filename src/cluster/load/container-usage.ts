/** The counters of one run of a simulated container. */
import type { Pod } from '../../api/core.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ContainerRuntime, Resources } from '../kubelet/pod-status.ts';
import { type CpuSettings, cpuSettings } from './cgroup-tree.ts';

/** The CFS period every kubelet uses unless told otherwise. */
export const PERIOD_MILLIS: Millis = 100;

export interface ContainerUsage {
  /** `podUid/container/restarts`: another process, another key. */
  readonly key: string;
  pod: Pod;
  readonly container: ContainerRuntime;
  readonly startedAtMillis: EpochMillis;
  readonly seed: number;
  /** Read from `resources`, again when those are others. */
  settings: CpuSettings & { readonly resources: Resources };
  demandMillicores: number;
  /** What it got at last. */
  usedMillicores: number;
  memoryBytes: number;
  hasMemoryLoad: boolean;
  cpuSeconds: number;
  /** Of 100 ms, in which something ran; only where there is a quota. */
  periods: number;
  throttledPeriods: number;
  /** Summed over CPUs, as the kernel counts it. */
  throttledSeconds: number;
  /** Pressure: some task waited for a CPU. */
  waitingSeconds: number;
  /** Pressure: all tasks waited. */
  stalledSeconds: number;
}

export function emptyUsage(
  identity: Pick<ContainerUsage, 'key' | 'pod' | 'container' | 'startedAtMillis' | 'seed'>,
): ContainerUsage {
  return {
    ...identity,
    settings: settingsOf(identity.container.resources),
    demandMillicores: 0,
    usedMillicores: 0,
    memoryBytes: 0,
    hasMemoryLoad: false,
    cpuSeconds: 0,
    periods: 0,
    throttledPeriods: 0,
    throttledSeconds: 0,
    waitingSeconds: 0,
    stalledSeconds: 0,
  };
}

export function settingsOf(resources: Resources): ContainerUsage['settings'] {
  return { ...cpuSettings(resources), resources };
}

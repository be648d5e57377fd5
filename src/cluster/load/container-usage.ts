/** The counters of one run of a simulated container, and how time adds to them. */
import type { Pod } from '../../api/core.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ContainerRuntime, Resources } from '../kubelet/pod-status.ts';
import { amountsOf } from '../pod-requests.ts';
import { sharesOf } from './cpu-sharing.ts';
import type { LoadedPod } from './node-load.ts';
import type { ContainerLoad } from './pod-load.ts';
import { stallShare, throttledShare } from './throttling.ts';

/** The CFS period every kubelet uses unless told otherwise. */
const PERIOD_MILLIS: Millis = 100;
/** The kubelet never sets a quota below 1 ms per 100 ms. Source: pkg/kubelet/cm/helpers_linux.go `minQuotaPeriod`. */
const MIN_LIMIT = 10;

/** What a container's control groups are set to. */
export interface ContainerSettings {
  /** What this was read from. */
  readonly resources: Resources;
  /** CPU shares. */
  readonly weight: number;
  /** Millicores; `Infinity` without a limit. */
  readonly limit: number;
  /** Bytes; `Infinity` without a limit. */
  readonly memoryLimit: number;
}

/** Another process of the same container is another object. */
export interface ContainerUsage {
  readonly loaded: LoadedPod;
  pod: Pod;
  readonly container: ContainerRuntime;
  /** Restarts before this process. */
  readonly run: number;
  readonly startedAtMillis: EpochMillis;
  readonly seed: number;
  settings: ContainerSettings;
  load: ContainerLoad | undefined;
  demandMillicores: number;
  /** What it got at last. */
  usedMillicores: number;
  memoryBytes: number;
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

export function newUsage(
  loaded: LoadedPod,
  container: ContainerRuntime,
  startedAtMillis: EpochMillis,
  seed: number,
): ContainerUsage {
  return {
    loaded,
    pod: loaded.pod(),
    container,
    run: container.restarts,
    startedAtMillis,
    seed,
    settings: settingsOf(container.resources),
    load: undefined,
    demandMillicores: 0,
    usedMillicores: 0,
    memoryBytes: 0,
    cpuSeconds: 0,
    periods: 0,
    throttledPeriods: 0,
    throttledSeconds: 0,
    waitingSeconds: 0,
    stalledSeconds: 0,
  };
}

/** As the kubelet would set the groups of a container with these resources. */
export function settingsOf(resources: Resources): ContainerSettings {
  const [requests, limits] = [amountsOf(resources.requests), amountsOf(resources.limits)];
  const limit = limits.get('cpu');
  return {
    resources,
    // A limit without a request is a request as well.
    weight: sharesOf(requests.get('cpu') ?? limit ?? 0),
    limit: limit === undefined ? Number.POSITIVE_INFINITY : Math.max(MIN_LIMIT, limit),
    memoryLimit: limits.get('memory') ?? Number.POSITIVE_INFINITY,
  };
}

/** Adds a stretch in which the container wanted and got what it says. @returns the core-seconds added. */
export function addUsage(usage: ContainerUsage, spanMillis: Millis): number {
  const { demandMillicores: demand, usedMillicores: granted, settings } = usage;
  const seconds = spanMillis / 1000;
  const used = (granted / 1000) * seconds;
  usage.cpuSeconds += used;
  const stall = stallShare(demand, granted);
  usage.waitingSeconds += stall * seconds;
  if (settings.limit === Number.POSITIVE_INFINITY || demand <= 0) return used;
  const share = throttledShare(demand, settings.limit);
  const periods = spanMillis / PERIOD_MILLIS;
  usage.periods += periods;
  usage.throttledPeriods += periods * share;
  const threads = Math.max(1, Math.ceil(demand / 1000));
  usage.throttledSeconds += share * seconds * Math.max(0, threads - settings.limit / 1000);
  // All tasks of a throttled group wait at once.
  usage.stalledSeconds += Math.min(stall, share) * seconds;
  return used;
}

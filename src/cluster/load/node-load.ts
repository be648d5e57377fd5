/** What the containers of one simulated node use: demand against quotas and neighbours, added up to the counters a kubelet serves. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ContainerRuntime } from '../kubelet/pod-status.ts';
import { cgroupTree } from './cgroup-tree.ts';
import { type ContainerUsage, emptyUsage, PERIOD_MILLIS, settingsOf } from './container-usage.ts';
import { shareCpu } from './cpu-sharing.ts';
import { seedOf } from './curve.ts';
import type { ContainerLoad } from './pod-load.ts';
import type { RunningPod } from './running-pod.ts';
import { stallShare, throttledShare } from './throttling.ts';

/** Of a container that runs without load. */
const IDLE_MILLICORES = 1;
const IDLE_BYTES = 8 * 1024 ** 2;

export interface NodeLoadOptions {
  /** What the node's pods can have together, in millicores; what is kept back for the system is taken to be in use by it. */
  readonly capacityMillicores: () => number;
  readonly loadOf: (pod: RunningPod['pod']) => ReadonlyMap<string, ContainerLoad> | undefined;
  /** A container uses this much memory from now on; the kubelet kills it beyond its limit. */
  readonly useMemory: (pod: RunningPod, container: string, bytes: number) => void;
  /** Longest stretch over which demand is taken as even. */
  readonly stepMillis: Millis;
  /** Lets one run's chance differ from another's. */
  readonly seed: number;
}

export interface NodeLoad {
  /** Adds up what was used since the last call. Containers that ended meanwhile are forgotten, counters of restarted ones begin anew. */
  advance(pods: readonly RunningPod[], now: EpochMillis): void;
  /** As of the last `advance`, in its order. */
  usages(): readonly ContainerUsage[];
}

export function createNodeLoad(options: NodeLoadOptions): NodeLoad {
  const { capacityMillicores, loadOf, useMemory, stepMillis, seed } = options;
  let usages = new Map<string, ContainerUsage>();
  let lastMillis: EpochMillis | undefined;

  const usageOf = (pod: RunningPod, container: ContainerRuntime, startedAtMillis: number): ContainerUsage => {
    const key = `${pod.pod.metadata?.uid}/${container.name}/${container.restarts}`;
    const known = usages.get(key);
    if (known !== undefined) return known;
    const { namespace = '', name = '' } = pod.pod.metadata ?? {};
    return emptyUsage({
      key,
      pod: pod.pod,
      container,
      startedAtMillis,
      seed: seedOf(`${seed}/${namespace}/${name}/${container.name}`),
    });
  };

  /** Takes demand at `now` as that of the whole stretch of `spanMillis` before it. */
  const addStep = (pods: readonly RunningPod[], now: EpochMillis, spanMillis: Millis): void => {
    const found = pods.map((pod) =>
      pod.containers.map((container) => {
        const startedAtMillis = container.state.kind === 'running' ? container.state.startedAtMillis : now;
        return usageOf(pod, container, startedAtMillis);
      }),
    );
    const next = new Map<string, ContainerUsage>();
    const tree = cgroupTree(pods, (podIndex, index) => {
      const usage = found[podIndex]?.[index];
      const pod = pods[podIndex];
      if (usage === undefined || pod === undefined) return { weight: 1, limit: 0, demand: 0 };
      next.set(usage.key, usage);
      const load = loadOf(pod.pod)?.get(usage.container.name);
      usage.pod = pod.pod;
      // The middle of the stretch stands for it.
      const at = now - spanMillis / 2;
      const moment = { now: at, ageMillis: Math.max(0, at - usage.startedAtMillis), seed: usage.seed };
      usage.demandMillicores = load === undefined ? IDLE_MILLICORES : Math.max(0, load.cpu(moment));
      const wanted = load?.memory?.({ now, ageMillis: Math.max(0, now - usage.startedAtMillis), seed: usage.seed });
      usage.memoryBytes = Math.round(wanted ?? (usage.container.memoryBytes || IDLE_BYTES));
      usage.hasMemoryLoad = wanted !== undefined;
      if (usage.settings.resources !== usage.container.resources)
        usage.settings = settingsOf(usage.container.resources);
      const { weight, limit } = usage.settings;
      return { weight, limit, demand: usage.demandMillicores };
    });
    shareCpu(tree.slices, capacityMillicores());
    usages = next;
    let leaf = 0;
    for (const usage of found.flat()) {
      const group = tree.leaves[leaf];
      const limit = Math.min(
        group?.limit ?? Number.POSITIVE_INFINITY,
        tree.podOfLeaf[leaf]?.limit ?? Number.POSITIVE_INFINITY,
      );
      addUsage(usage, group?.granted ?? 0, limit, Math.min(spanMillis, Math.max(0, now - usage.startedAtMillis)));
      leaf++;
    }
  };

  return {
    advance(pods, now) {
      const from = lastMillis ?? now;
      lastMillis = now;
      const steps = Math.max(1, Math.ceil((now - from) / stepMillis));
      const spanMillis = (now - from) / steps;
      for (let step = 1; step <= steps; step++) addStep(pods, from + spanMillis * step, spanMillis);
      // Killing changes what runs, so it comes last.
      for (const pod of pods)
        for (const container of pod.containers) {
          const usage = usages.get(`${pod.pod.metadata?.uid}/${container.name}/${container.restarts}`);
          if (usage?.hasMemoryLoad === true) useMemory(pod, container.name, usage.memoryBytes);
        }
    },
    usages: () => [...usages.values()],
  };
}

function addUsage(usage: ContainerUsage, grantedMillicores: number, limitMillicores: number, spanMillis: Millis): void {
  const seconds = spanMillis / 1000;
  const { demandMillicores } = usage;
  usage.usedMillicores = grantedMillicores;
  usage.cpuSeconds += (grantedMillicores / 1000) * seconds;
  const stall = stallShare(demandMillicores, grantedMillicores);
  usage.waitingSeconds += stall * seconds;
  if (!Number.isFinite(limitMillicores)) return;
  const share = throttledShare(demandMillicores, limitMillicores);
  const periods = demandMillicores > 0 ? spanMillis / PERIOD_MILLIS : 0;
  usage.periods += periods;
  usage.throttledPeriods += periods * share;
  const threads = Math.max(1, Math.ceil(demandMillicores / 1000));
  usage.throttledSeconds += share * seconds * Math.max(0, threads - limitMillicores / 1000);
  // All tasks of a throttled group wait at once.
  usage.stalledSeconds += Math.min(stall, share) * seconds;
}

/** What the containers of one simulated node use: demand against quotas and neighbours, added up to the counters a kubelet serves. */
import type { Pod } from '../../api/core.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ContainerRuntime } from '../kubelet/pod-status.ts';
import { grantContended } from './cgroup-tree.ts';
import { addUsage, type ContainerUsage, newUsage, settingsOf } from './container-usage.ts';
import { seedOf } from './curve.ts';
import type { ContainerLoad } from './pod-load.ts';

/** Of a container that runs without load. */
const IDLE_MILLICORES = 1;
const IDLE_BYTES = 8 * 1024 ** 2;
/** A longer time without a look is followed in coarser steps. */
const MAX_STEPS = 1000;

/** A pod on the node, as its kubelet runs it. */
export interface LoadedPod {
  /** As last heard of; replaced when it changes. */
  pod(): Pod;
  /** All there can be, running or not; always the same list. */
  readonly containers: readonly ContainerRuntime[];
  /** A container uses this much memory: the kubelet kills it beyond its limit. */
  useMemory(container: string, bytes: number): void;
}

export interface NodeLoadOptions {
  /** What the node's pods can have together, in millicores; what is kept back for the system is taken to be in use by it. */
  readonly capacityMillicores: () => number;
  readonly loadOf: (pod: Pod) => ReadonlyMap<string, ContainerLoad> | undefined;
  /** Longest stretch over which demand is taken as even. */
  readonly stepMillis: Millis;
  /** Lets one run's chance differ from another's. */
  readonly seed: number;
}

/** Time only adds: counters of a container never fall while its process lives. */
export interface NodeLoad {
  /** Adds up what was used since the last call. Containers that ended meanwhile are forgotten, counters of restarted ones begin anew. */
  advance(pods: Iterable<LoadedPod>, now: EpochMillis): void;
  /** Whether nobody has looked for most of a step. */
  isDue(now: EpochMillis): boolean;
  /** As of the last `advance`, in its order. */
  usages(): readonly ContainerUsage[];
  /** Of all containers there ever were. */
  cpuSeconds(): number;
  /** What all containers got as of the last `advance`, in millicores; undefined where none of them has a load. */
  cpuInUse(): number | undefined;
}

interface Track {
  pod: Pod;
  loads: ReadonlyMap<string, ContainerLoad> | undefined;
  /** By place in the pod's list; undefined while there is no process. */
  readonly usages: (ContainerUsage | undefined)[];
}

export function createNodeLoad({ capacityMillicores, loadOf, stepMillis, seed }: NodeLoadOptions): NodeLoad {
  const tracks = new WeakMap<LoadedPod, Track>();
  let active: ContainerUsage[] = [];
  let lastMillis: EpochMillis | undefined;
  let cpuSeconds = 0;
  let hasLoad = false;

  const trackOf = (loaded: LoadedPod): Track => {
    const pod = loaded.pod();
    const known = tracks.get(loaded);
    if (known === undefined) {
      const track = { pod, loads: loadOf(pod), usages: [] };
      tracks.set(loaded, track);
      return track;
    }
    if (known.pod !== pod) {
      known.pod = pod;
      known.loads = loadOf(pod);
    }
    return known;
  };

  const follow = (pods: Iterable<LoadedPod>): void => {
    active = [];
    hasLoad = false;
    for (const loaded of pods) {
      const track = trackOf(loaded);
      hasLoad ||= track.loads !== undefined;
      loaded.containers.forEach((container, index) => {
        const known = track.usages[index];
        if (container.state.kind !== 'running') {
          track.usages[index] = undefined;
          return;
        }
        const usage =
          known?.run === container.restarts
            ? known
            : newUsage(loaded, container, container.state.startedAtMillis, seedFor(track.pod, container));
        track.usages[index] = usage;
        usage.pod = track.pod;
        usage.load = track.loads?.get(container.name);
        if (usage.settings.resources !== container.resources) usage.settings = settingsOf(container.resources);
        active.push(usage);
      });
    }
  };

  const seedFor = ({ metadata }: Pod, container: ContainerRuntime): number =>
    seedOf(`${seed}/${metadata?.namespace}/${metadata?.name}/${container.name}`);

  /** Takes demand in the middle of the stretch of `spanMillis` before `now` as that of all of it. */
  const addStep = (now: EpochMillis, spanMillis: Millis): void => {
    const middle = now - spanMillis / 2;
    let total = 0;
    for (const usage of active) {
      const { load, startedAtMillis } = usage;
      const moment = { now: middle, ageMillis: Math.max(0, middle - startedAtMillis), seed: usage.seed };
      usage.demandMillicores = load === undefined ? IDLE_MILLICORES : load.cpu(moment);
      usage.usedMillicores = Math.min(usage.demandMillicores, usage.settings.limit);
      total += usage.usedMillicores;
    }
    const capacity = capacityMillicores();
    if (total > capacity) grantContended(active, capacity);
    for (const usage of active)
      cpuSeconds += addUsage(usage, Math.min(spanMillis, Math.max(0, now - usage.startedAtMillis)));
  };

  const measureMemory = (now: EpochMillis): void => {
    for (const usage of active) {
      const { load, container, seed: own, startedAtMillis } = usage;
      const wanted = load?.memory?.({ now, ageMillis: Math.max(0, now - startedAtMillis), seed: own });
      usage.memoryBytes = Math.round(wanted ?? (container.memoryBytes || IDLE_BYTES));
      if (wanted === undefined) continue;
      container.memoryBytes = usage.memoryBytes;
      if (usage.memoryBytes > usage.settings.memoryLimit) usage.loaded.useMemory(container.name, usage.memoryBytes);
    }
  };

  return {
    advance(pods, now) {
      follow(pods);
      const first = lastMillis ?? active.reduce((least, { startedAtMillis }) => Math.min(least, startedAtMillis), now);
      // The clock may have been set back.
      const from = Math.min(first, now);
      lastMillis = now;
      const steps = hasLoad ? Math.min(MAX_STEPS, Math.max(1, Math.ceil((now - from) / stepMillis))) : 1;
      const spanMillis = (now - from) / steps;
      for (let step = 1; step <= steps; step++) addStep(from + spanMillis * step, spanMillis);
      measureMemory(now);
    },
    isDue: (now) => lastMillis === undefined || now < lastMillis || now - lastMillis > stepMillis / 2,
    usages: () => active,
    cpuSeconds: () => cpuSeconds,
    cpuInUse: () => (hasLoad ? active.reduce((sum, { usedMillicores }) => sum + usedMillicores, 0) : undefined),
  };
}

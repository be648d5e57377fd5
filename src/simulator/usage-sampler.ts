/** A node agent's sampler fed by the counters of a simulated node in place of control group files. */
import { type CounterRing, createCounterRing } from '../agent/cgroup/counter-ring.ts';
import type { CpuCounters } from '../agent/cgroup/counters.ts';
import type { GroupUse } from '../agent/followed-group.ts';
import type { NodeUse } from '../agent/node-use.ts';
import type { Sampler, TrackedPod } from '../agent/sampler.ts';
import type { NodeUsage } from '../cluster/kubelet/node-usage.ts';
import type { ContainerUsage } from '../cluster/load/container-usage.ts';
import type { Millicores, Millis } from '../lib/units.ts';

/** Each node's own: the agent of a node sees nothing of others. */
export interface UsageSamplerOptions {
  /** Counters of the node's containers up to now; undefined while there is no such node. */
  readonly usage: () => NodeUsage | undefined;
  /** In virtual time; the agent's own clock. */
  readonly monotonic: () => Millis;
}

/** As many samples, one a second, as the longest window needs. */
const CAPACITY = 64;
const SECOND = 1000;
const MICROS = 1_000_000;

interface NodeSample {
  readonly at: Millis;
  readonly cpuSeconds: number;
  readonly podSeconds: number;
}

interface Followed {
  readonly pod: CounterRing;
  readonly containers: Map<string, CounterRing>;
}

export function createUsageSampler({ usage, monotonic }: UsageSamplerOptions): Sampler {
  const pods = new Map<string, Followed>();
  let node: NodeSample[] = [];
  let samples = 0;

  const follow = ({ groupUid }: TrackedPod): Followed => {
    const known = pods.get(groupUid) ?? { pod: createCounterRing(CAPACITY), containers: new Map() };
    pods.set(groupUid, known);
    return known;
  };
  const samplePod = (uid: string, containers: readonly ContainerUsage[], at: Millis): void => {
    const followed = pods.get(uid);
    if (followed === undefined) return;
    followed.pod.push(at, sum(containers.map(countersOf)));
    for (const each of containers) {
      const { name } = each.container;
      const ring = followed.containers.get(name) ?? createCounterRing(CAPACITY);
      followed.containers.set(name, ring);
      ring.push(at, countersOf(each));
    }
  };

  return {
    track(tracked) {
      const wanted = new Set(tracked.map(({ groupUid }) => groupUid));
      for (const uid of pods.keys()) if (!wanted.has(uid)) pods.delete(uid);
      tracked.forEach(follow);
    },
    sample() {
      const at = monotonic();
      samples++;
      const now = usage();
      if (now === undefined) return;
      const byPod = new Map<string, ContainerUsage[]>();
      for (const each of now.containers) {
        const uid = each.pod.metadata?.uid ?? '';
        byPod.set(uid, [...(byPod.get(uid) ?? []), each]);
      }
      for (const [uid, containers] of byPod) samplePod(uid, containers, at);
      const podSeconds = now.containers.reduce((total, { cpuSeconds }) => total + cpuSeconds, 0);
      node = [...node.slice(-CAPACITY), { at, cpuSeconds: now.cpuSeconds, podSeconds }];
    },
    pod(groupUid) {
      const followed = pods.get(groupUid);
      if (followed === undefined) return undefined;
      return {
        ...useOf(followed.pod),
        container(name) {
          const ring = followed.containers.get(name);
          return ring === undefined ? undefined : useOf(ring);
        },
      };
    },
    // Over the span, or as much of it as is known; unknown before the second sample.
    node(spanMillis): NodeUse {
      const last = node.at(-1);
      const first = node.findLast(({ at }) => last !== undefined && at <= last.at - spanMillis) ?? node[0];
      if (first === undefined || last === undefined || last.at === first.at)
        return { total: undefined, pods: undefined, system: undefined };
      const rate = (of: (each: NodeSample) => number): Millicores =>
        ((of(last) - of(first)) / ((last.at - first.at) / SECOND)) * 1000;
      const total = rate(({ cpuSeconds }) => cpuSeconds);
      const ofPods = rate(({ podSeconds }) => podSeconds);
      return { total, pods: ofPods, system: Math.max(0, total - ofPods) };
    },
    problems: () => [],
    isReading: () => pods.size > 0,
    get samples() {
      return samples;
    },
    describe: () => 'the counters of a simulated node',
    close: () => {},
  };
}

/** Settings of control groups (weights, quotas) are not simulated: what the agent would read of them stays unknown. */
function useOf(ring: CounterRing): GroupUse {
  return { window: ring.window, settings: () => undefined, lastMillis: () => ring.lastMillis };
}

function countersOf(usage: ContainerUsage): CpuCounters {
  return {
    usageMicros: usage.cpuSeconds * MICROS,
    periods: usage.periods,
    throttledPeriods: usage.throttledPeriods,
    throttledMicros: usage.throttledSeconds * MICROS,
    pressureMicros: usage.waitingSeconds * MICROS,
  };
}

/** Of a pod: what its containers used; somebody waits in it where somebody does in one of them. */
function sum(all: readonly CpuCounters[]): CpuCounters {
  const total = (of: (each: CpuCounters) => number): number => all.reduce((added, each) => added + of(each), 0);
  return {
    usageMicros: total(({ usageMicros }) => usageMicros),
    periods: total(({ periods }) => periods),
    throttledPeriods: total(({ throttledPeriods }) => throttledPeriods),
    throttledMicros: total(({ throttledMicros }) => throttledMicros),
    pressureMicros: Math.max(0, ...all.map(({ pressureMicros = 0 }) => pressureMicros)),
  };
}

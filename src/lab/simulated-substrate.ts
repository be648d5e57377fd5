/** The experiment's pods on the simulated machine: as fast as it computes, the same each time. */
import { createSeededRandom } from '../lib/random.ts';
import type { Millis } from '../lib/units.ts';
import { CfsMachine, type Job, type JobQueue } from './cfs/cfs-machine.ts';
import { type Arrival, arrivalsOf } from './open-loop.ts';
import { type CpuSettings, type LabPod, PATIENCE_MILLIS, type Reply, type Substrate } from './substrate.ts';

export interface SimulatedSubstrateOptions {
  readonly cpus: number;
  /** Requests are prepared up to here. */
  readonly lengthMillis: Millis;
}

interface Service {
  readonly queue: JobQueue;
  readonly replies: () => readonly Reply[];
}

export function createSimulatedSubstrate({ cpus, lengthMillis }: SimulatedSubstrateOptions): Substrate {
  const machine = new CfsMachine({ cpus });
  const services = new Map<string, Service>();
  const set = (name: string, { request, limit }: CpuSettings): void => {
    // A core is 1,024 shares, and 2 are the least there are (MilliCPUToShares, pkg/kubelet/cm/helpers_linux.go).
    machine.setWeight(name, Math.max(2, Math.floor(request * 1.024)));
    machine.setQuota(name, limit);
  };
  return {
    kind: 'simulated',
    async start(pod, settings, seed) {
      const service = pod.load.kind === 'spin' ? spinning : serving(pod, lengthMillis, seed, () => machine.now());
      services.set(pod.name, service);
      machine.addGroup(pod.name, { weight: 2, threads: pod.load.threads, queue: service.queue });
      set(pod.name, settings);
    },
    async stop(name) {
      machine.removeGroup(name);
    },
    async apply(name, settings) {
      set(name, settings);
    },
    counters: (name) => machine.counters(name),
    async runUntil(millis) {
      machine.runUntil(millis);
    },
    replies: async (name) => services.get(name)?.replies() ?? [],
    async close() {},
  };
}

/** One job without an end: it takes what it can get, and serves nobody. */
const spinning: Service = {
  queue: { take: () => ({ remainingMillis: Number.MAX_SAFE_INTEGER }), finished: () => {} },
  replies: () => [],
};

/** A server that drops requests whose sender has given up by the time it would begin with them. */
function serving(pod: LabPod, lengthMillis: Millis, seed: number, now: () => Millis): Service {
  const { load } = pod;
  if (load.kind !== 'requests') throw new TypeError(`${pod.name} serves no requests`);
  const arrivals = arrivalsOf({
    ...load,
    from: pod.from ?? 0,
    until: Math.min(lengthMillis, pod.until ?? lengthMillis),
    random: createSeededRandom(seed),
  });
  const answered = new Map<Arrival, Millis>();
  const arrivalOf = new WeakMap<Job, Arrival>();
  let next = 0;
  const take = (millis: Millis): Job | undefined => {
    for (;;) {
      const arrival = arrivals[next];
      if (arrival === undefined || arrival.atMillis > millis) return undefined;
      next++;
      if (millis - arrival.atMillis > PATIENCE_MILLIS) continue;
      const job: Job = { remainingMillis: arrival.workMillis };
      arrivalOf.set(job, arrival);
      return job;
    }
  };
  return {
    queue: {
      take,
      finished(job, millis) {
        const arrival = arrivalOf.get(job);
        if (arrival !== undefined) answered.set(arrival, millis - arrival.atMillis);
      },
    },
    // Who asked less than the patience ago may still be answered: neither lost nor served yet.
    replies: () =>
      arrivals
        .filter(({ atMillis }) => atMillis + PATIENCE_MILLIS <= now())
        .map((arrival) => {
          const latency = answered.get(arrival);
          const isLost = latency === undefined || latency > PATIENCE_MILLIS;
          return { sentAt: arrival.atMillis, latencyMillis: isLost ? undefined : latency };
        }),
  };
}

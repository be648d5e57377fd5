/** The experiment's pods as processes in real control groups: what the kernel really does, at the pace of the clock. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Hierarchy } from '../../agent/cgroup/hierarchy.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import { StowageError } from '../../lib/errors.ts';
import { createSeededRandom } from '../../lib/random.ts';
import type { Millis } from '../../lib/units.ts';
import { type Arrival, arrivalsOf } from '../open-loop.ts';
import { type LabPod, PATIENCE_MILLIS, type Reply, type Substrate } from '../substrate.ts';
import { createLabGroups } from './lab-groups.ts';
import { type PodOrders, podSource } from './pod-program.ts';

export interface KernelSubstrateOptions {
  readonly hierarchy: Hierarchy;
  /** Requests are prepared up to here. */
  readonly lengthMillis: Millis;
  readonly clock: Clock;
  /** Milliseconds that never jump and are the same for every process: CLOCK_MONOTONIC. */
  readonly monotonicMillis: () => Millis;
}

interface RunningPod {
  readonly pod: LabPod;
  readonly child: ChildProcess;
  readonly arrivals: readonly Arrival[];
}

/** The answer of a pod that gets little CPU may take this long. */
const ANSWER_MILLIS: Millis = 30_000;

/** @throws StowageError LAB_GROUPS where control groups cannot be made. */
export function createKernelSubstrate(options: KernelSubstrateOptions): Substrate {
  const { hierarchy, lengthMillis, clock, monotonicMillis } = options;
  const groups = createLabGroups(hierarchy, clock);
  const running = new Map<string, RunningPod>();
  /** The instant of the experiment's zero; unknown until time first passes. */
  let zero: Millis | undefined;

  const begin = ({ pod, child, arrivals }: RunningPod, from: Millis): void => {
    const orders: PodOrders = {
      spins: pod.load.kind === 'spin',
      atMillis: Float64Array.from(arrivals, ({ atMillis }) => from + atMillis),
      workMillis: Float64Array.from(arrivals, ({ workMillis }) => workMillis),
      patienceMillis: PATIENCE_MILLIS,
    };
    child.send({ orders });
  };
  const end = async (name: string): Promise<void> => {
    const pod = running.get(name);
    running.delete(name);
    pod?.child.kill('SIGKILL');
    if (pod !== undefined && pod.child.exitCode === null && pod.child.signalCode === null)
      await once(pod.child, 'exit');
    await groups.remove(name);
  };
  const nowMillis = (): Millis => (zero === undefined ? 0 : monotonicMillis() - zero);

  return {
    kind: 'kernel',
    async start(pod, settings, seed) {
      groups.make(pod.name, settings);
      const child = spawn(process.execPath, ['--eval', podSource(pod.load.threads)], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        serialization: 'advanced',
      });
      await answerOf(child, 'isReady');
      if (child.pid === undefined) throw new StowageError('LAB_POD', `the process of pod ${pod.name} did not start`);
      groups.enter(pod.name, child.pid);
      const { load } = pod;
      const until = Math.min(lengthMillis, pod.until ?? lengthMillis);
      const random = createSeededRandom(seed);
      const arrivals = load.kind === 'spin' ? [] : arrivalsOf({ ...load, from: pod.from ?? 0, until, random });
      const entry = { pod, child, arrivals };
      running.set(pod.name, entry);
      if (zero !== undefined) begin(entry, zero);
    },
    stop: end,
    async apply(name, settings) {
      groups.set(name, settings);
    },
    counters: (name) => groups.counters(name),
    async runUntil(millis) {
      if (zero === undefined) {
        zero = monotonicMillis();
        for (const entry of running.values()) begin(entry, zero);
      }
      const left = millis - nowMillis();
      if (left > 0) await sleep(clock, left);
    },
    async replies(name) {
      const entry = running.get(name);
      if (entry === undefined || entry.arrivals.length === 0) return [];
      entry.child.send({});
      const { latencies } = await answerOf(entry.child, 'latencies');
      if (!(latencies instanceof Float64Array)) throw new StowageError('LAB_POD', `pod ${name} gave no latencies`);
      const now = nowMillis();
      return entry.arrivals.flatMap(({ atMillis }, index): Reply[] => {
        if (atMillis + PATIENCE_MILLIS > now) return [];
        const latency = latencies[index] ?? 0;
        // 0 stands for none.
        return [{ sentAt: atMillis, latencyMillis: latency > 0 && latency <= PATIENCE_MILLIS ? latency : undefined }];
      });
    },
    async close() {
      for (const name of [...running.keys()]) await end(name);
      await groups.close();
    },
  };

  /** The next message that has this field. */
  async function answerOf(child: ChildProcess, field: string): Promise<Readonly<Record<string, unknown>>> {
    const impatient = new AbortController();
    const isLate = sleep(clock, ANSWER_MILLIS, impatient.signal).then(
      () => {
        throw new StowageError('LAB_POD', `a pod of the experiment did not answer within ${ANSWER_MILLIS / 1000} s`);
      },
      () => ({}),
    );
    try {
      for (;;) {
        const ended = once(child, 'exit', { signal: impatient.signal }).then(() => {
          throw new StowageError('LAB_POD', 'a pod of the experiment ended before its time');
        });
        ended.catch(() => {});
        const [message] = await Promise.race([
          once(child, 'message', { signal: impatient.signal }),
          ended,
          isLate.then(() => []),
        ]);
        if (typeof message === 'object' && message !== null && field in message) return message;
      }
    } finally {
      impatient.abort();
    }
  }
}

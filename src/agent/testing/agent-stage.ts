/** The agent on the embedded API server and a fake tree, with its time in the test's hand. */
import { onTestFinished } from 'vitest';
import type { KubeApi } from '../../api/kube-api.ts';
import { podAllocations } from '../../api/pod-allocation.ts';
import type { Logger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock, type VirtualClock } from '../../lib/virtual-clock.ts';
import { type Agent, createAgent } from '../agent.ts';
import { createAgentMetrics } from '../metrics-text.ts';
import {
  AGENT_NAMESPACE,
  type AgentWorld,
  type AgentWorldOptions,
  createAgentWorld,
  NODE,
  type WorldPod,
} from './agent-world.ts';

export const START = Date.UTC(2026, 0, 2, 3, 4, 5);

export interface Stage extends AgentWorld {
  readonly clock: VirtualClock;
  readonly logged: string[];
  start(options?: {
    readonly api?: KubeApi;
    readonly isObserving?: boolean;
    readonly env?: Record<string, string>;
  }): Running;
  /** Seconds pass; each pod uses so many millicores, given by name. */
  pass(seconds: number, loads?: Readonly<Record<string, number>>): Promise<void>;
  readonly pods: Map<string, WorldPod>;
  /** Sets the machine's clock, as an administrator or a time server would. */
  shiftClock(millis: number): void;
}
export interface Running {
  readonly agent: Agent;
  readonly metrics: ReturnType<typeof createAgentMetrics>;
  stop(): Promise<void>;
}

/** The test it is called in ends it, with the agents started on it. */
export async function stage(options: Omit<AgentWorldOptions, 'clock'> = {}): Promise<Stage> {
  const clock = createVirtualClock(START);
  const world = await createAgentWorld({ ...options, clock });
  onTestFinished(world.close);
  const logged: string[] = [];
  const log: Logger = {
    debug: () => {},
    info: (_fields, message) => logged.push(message),
    warn: (_fields, message) => logged.push(message),
    error: ({ error }, message) => logged.push(`${message} ${String(error)}`),
    child: () => log,
  };
  const pods = new Map<string, WorldPod>();
  const used = new Map<string, number>();
  let elapsed = 0;
  let shift = 0;
  return {
    ...world,
    clock,
    logged,
    pods,
    async addPod(sketch) {
      const pod = await world.addPod(sketch);
      pods.set(pod.name, pod);
      return pod;
    },
    start({ api = world.server.client(), isObserving = false, env = {} } = {}) {
      const abort = new AbortController();
      const metrics = createAgentMetrics();
      const agent = createAgent({
        api,
        nodeName: NODE,
        namespace: AGENT_NAMESPACE,
        cgroupRoot: world.tree.mount,
        procRoot: world.tree.proc,
        isObserving,
        env: { STOWAGE_ALLOCATION_MANAGEMENT_MODE: 'optOut', ...env },
        clock: { setTimer: clock.setTimer, now: () => clock.now() + shift },
        monotonic: () => elapsed,
        random: createSeededRandom(2),
        log,
        metrics,
      });
      const running = agent.run(abort.signal);
      const stop = async (): Promise<void> => {
        abort.abort();
        await clock.advance(0);
        await running;
      };
      onTestFinished(stop);
      return { agent, metrics, stop };
    },
    shiftClock(millis) {
      shift += millis;
    },
    async pass(seconds, loads = {}) {
      for (let second = 0; second < seconds; second++) {
        for (const [name, { fake }] of pods) {
          const total = (used.get(name) ?? 0) + (loads[name] ?? 0) * 1000;
          used.set(name, total);
          world.tree.set(fake, undefined, { usageMicros: total });
          for (const container of Object.keys(fake.containers)) world.tree.set(fake, container, { usageMicros: total });
        }
        elapsed += 1000;
        await clock.advance(1000);
      }
    },
  };
}

export const specOf = async (world: AgentWorld, name: string) =>
  (await world.allocations()).find(({ spec }) => spec?.podName === name)?.spec;

/** Writes of PodAllocations the server has seen. */
export const patchesOf = (world: AgentWorld): number =>
  world.server.accessLog
    .entries()
    .filter(({ verb, resource }) => verb === 'patch' && resource === podAllocations.plural)
    .reduce((sum, { count }) => sum + count, 0);

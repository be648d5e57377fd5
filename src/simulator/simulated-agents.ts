/** Node agents on simulated nodes: the agent as it is, but for where its counters come from. */
import { createAgent } from '../agent/agent.ts';
import { type AgentMetrics, createAgentMetrics } from '../agent/metrics-text.ts';
import type { KubeApi } from '../api/kube-api.ts';
import type { NodeUsage } from '../cluster/kubelet/node-usage.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { createUsageSampler } from './usage-sampler.ts';

export interface SimulatedAgentsOptions {
  readonly usage: (node: string) => NodeUsage | undefined;
  /** As the agent's container has them: `POD_NAMESPACE`, where its ConfigMap is, and settings (`STOWAGE_ALLOCATION_*`, `MBCAS_*`). */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface SimulatedAgents {
  /** Starts the agent of a node that has none. */
  start(node: string, api: KubeApi, env?: Readonly<Record<string, string>>): AgentMetrics;
  /** Ends it as a kill would: nothing is said goodbye to. */
  kill(node: string): Promise<void>;
  stop(): Promise<void>;
}

export function createSimulatedAgents({
  usage,
  env = {},
  clock,
  random,
  log,
}: SimulatedAgentsOptions): SimulatedAgents {
  const running = new Map<string, { readonly stopper: AbortController; readonly ended: Promise<void> }>();
  const kill = async (node: string): Promise<void> => {
    const agent = running.get(node);
    running.delete(node);
    agent?.stopper.abort(new Error('The agent was killed.'));
    await agent?.ended;
  };
  return {
    start(node, api, own = {}) {
      const stopper = new AbortController();
      const metrics = createAgentMetrics();
      const monotonic = (): number => clock.now();
      const agent = createAgent({
        api,
        nodeName: node,
        namespace: own['POD_NAMESPACE'] ?? env['POD_NAMESPACE'] ?? 'mbcas-system',
        cgroupRoot: '',
        procRoot: '',
        sampler: createUsageSampler({ usage: () => usage(node), monotonic }),
        isObserving: false,
        env: { ...env, ...own },
        clock,
        monotonic,
        random,
        log: log.child(`agent ${node}`),
        metrics,
      });
      running.set(node, { stopper, ended: agent.run(stopper.signal) });
      return metrics;
    },
    kill,
    async stop() {
      await Promise.all([...running.keys()].map(kill));
    },
  };
}

/** How often the agent with these figures has planned: its loops. */
export function plansOf(metrics: AgentMetrics | undefined): number {
  const count = /^mbcas_agent_step_duration_seconds_count\{loop="plan"\} (\d+)$/m.exec(metrics?.render() ?? '');
  return Number(count?.[1] ?? 0);
}

/** Node agents on simulated nodes: the agent as it is, but for where its counters come from. */
import { createAgent } from '../agent/agent.ts';
import { type AgentMetrics, createAgentMetrics } from '../agent/metrics-text.ts';
import type { KubeApi } from '../api/kube-api.ts';
import type { NodeUsage } from '../cluster/kubelet/node-usage.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { EpochMillis, Millicores } from '../lib/units.ts';
import { createUsageSampler } from './usage-sampler.ts';

export interface SimulatedAgentsOptions {
  readonly usage: (node: string) => NodeUsage | undefined;
  /**
   * As the agent's container has them: `POD_NAMESPACE`, where its ConfigMap is, and settings (`STOWAGE_ALLOCATION_*`,
   * `MBCAS_*`).
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Told of every plan. Costs a rendering of the agent's metrics each. */
  readonly onPlan?: (node: string, plan: SeenPlan) => void;
}

/** One loop of an agent: when it planned, and what it took each pod to use. */
export interface SeenPlan {
  readonly at: EpochMillis;
  /** By name of the pod. */
  readonly usage: Readonly<Record<string, Millicores>>;
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
  onPlan,
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
        metrics:
          onPlan === undefined ? metrics : tellingOfPlans(metrics, (usage) => onPlan(node, { at: clock.now(), usage })),
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

/**
 * What an agent saw is read from the metrics it would be scraped for: the simulator looks at it from outside, like
 * everybody.
 * @returns the agent's metrics, as they are, with word of each plan.
 */
function tellingOfPlans(metrics: AgentMetrics, tell: (usage: SeenPlan['usage']) => void): AgentMetrics {
  return {
    ...metrics,
    observe(name, labels, value) {
      metrics.observe(name, labels, value);
      if ('loop' in labels && labels.loop === 'plan') tell(usageIn(metrics.render()));
    },
  };
}

function usageIn(text: string): SeenPlan['usage'] {
  const series = text.matchAll(/^mbcas_pod_usage_milli\{namespace="[^"]*",pod="([^"]*)"\} (\S+)$/gm);
  return Object.fromEntries([...series].map(([, pod = '', usage]) => [pod, Number(usage)]));
}

/**
 * How many loops the agent needed from the first plan that saw `pod` use more than `usage` until `until`, that one
 * included.
 */
export function loopsFrom(plans: readonly SeenPlan[], pod: string, usage: Millicores, until: EpochMillis): number {
  const first = plans.findIndex((plan) => (plan.usage[pod] ?? 0) > usage);
  return first < 0 ? 0 : plans.slice(first).filter(({ at }) => at <= until).length;
}

/** Keeps agents on a share of the nodes, as a DaemonSet does: they come and go with their nodes. */
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { seedOf } from '../cluster/load/curve.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { createSimulatedAgents } from './simulated-agents.ts';

export interface NodeAgentsOptions {
  readonly cluster: Cluster;
  /** 0..1. */
  readonly share: number;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface NodeAgents {
  /** Kills the agents of so many nodes and starts others after a while. */
  replace(count: number, afterMillis: Millis): Promise<void>;
  /** Since when the node's agent has been dead; undefined where one lives, or never did. */
  deadSince(node: string): EpochMillis | undefined;
  stop(): Promise<void>;
}

/** The service account of the chart's agents. */
export const AGENT_USER = 'system:serviceaccount:mbcas-system:stowage-agent';

export function startNodeAgents({ cluster, share, env, clock, random, log, signal }: NodeAgentsOptions): NodeAgents {
  const agents = createSimulatedAgents({ usage: cluster.kubelet.usage, env, clock, random, log });
  const api = cluster.server.client({ user: AGENT_USER });
  const alive = new Set<string>();
  const dead = new Map<string, EpochMillis>();
  const start = (node: string): void => {
    if (signal.aborted || alive.has(node) || cluster.caches.of(resources.nodes).get(node) === undefined) return;
    alive.add(node);
    dead.delete(node);
    agents.start(node, api);
  };
  const kill = async (node: string): Promise<void> => {
    if (!alive.delete(node)) return;
    dead.set(node, clock.now());
    await agents.kill(node);
  };
  // Which ones depends on the name alone, so that the same node always is one of them.
  const isChosen = (node: string): boolean => (seedOf(node) % 1000) / 1000 < share;
  cluster.caches.of(resources.nodes).onChange((before, after) => {
    const node = (after ?? before)?.metadata?.name ?? '';
    if (after === undefined) void kill(node);
    else if (before === undefined && isChosen(node)) start(node);
  });
  return {
    async replace(count, afterMillis) {
      const some = [...alive].slice(0, count);
      await Promise.all(some.map(kill));
      await sleep(clock, afterMillis, signal);
      some.forEach(start);
    },
    deadSince: (node) => dead.get(node),
    stop: () => agents.stop(),
  };
}

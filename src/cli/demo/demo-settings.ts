/** What is different in the demo from a real installation: nodes come in seconds, and the pace is one for watching. */

import type { NodePool } from '../../cluster/autoscaler/node-pool.ts';
import { demoPools as realisticPools } from '../../cluster/demo/demo-pools.ts';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';

/** Nodes there from the start; the rest comes when pods ask for it. */
const firstNodes: Readonly<Record<string, number>> = {
  'on-demand-m5': 2,
  'on-demand-c5': 1,
  'spot-m5': 1,
  'spot-m5a': 1,
  'spot-c5': 2,
};

/** Shorter than in reality: a viewer waits for the nodes. Interruptions come from the story, not by chance. */
export const demoPools: readonly NodePool[] = realisticPools.map((pool) => ({
  ...pool,
  minNodes: Math.max(pool.minNodes ?? 0, firstNodes[pool.name] ?? 0),
  provisionMillis: 3000,
  interruptionsPerHour: 0,
}));

/** Pods start a little faster, too. */
export const demoBehaviour = { startMillis: 1000, readyMillis: 300 } as const;

/** The configuration file of the demo's operator; everything else has its default. */
const configText = `
controllers:
  reconcileInterval: 5s
  workloadTiming:
    cooldownPeriod: 2s
observability:
  metrics:
    bindAddress: 127.0.0.1:0
  health:
    bindAddress: 127.0.0.1:0
web:
  bindAddress: 127.0.0.1:0
engines:
  allocation: true
  rightsizing: true
allocation:
  warmUp: 0s
rightsizing:
  sampleInterval: 5s
  reconcileInterval: 5s
`;

/** What the types of the pools cost on demand in the place of the demo, in dollars an hour. */
const onDemandPrices: Readonly<Record<string, number>> = {
  'm5.xlarge': 0.23,
  'm5a.xlarge': 0.208,
  'c5.2xlarge': 0.388,
  'r5.xlarge': 0.304,
};

/** A prices file with what the nodes of the demo cost; JSON is YAML. */
export function demoPrices(): string {
  const spot = new Map(
    realisticPools.filter((pool) => pool.class === 'spot').map((pool) => [pool.instanceType, pool.pricePerHour]),
  );
  const entries = Object.entries(onDemandPrices).map(([type, onDemand]) => [type, { onDemand, spot: spot.get(type) }]);
  return JSON.stringify({ source: 'the demo', instanceTypes: Object.fromEntries(entries) });
}

/**
 * The webhook takes any free port: it is registered by the one it got. A configuration file may not ask for that.
 * @param paths of a file with {@link demoPrices}, and of a folder for reports of simulations.
 */
export function demoConfig(paths: { readonly prices: string; readonly reports: string }): Config {
  const { config } = loadConfig({ text: configText, fileName: 'the demo', env: {} });
  const { webhook, placement, web } = config;
  return {
    ...config,
    webhook: { ...webhook, port: 0 },
    placement: { ...placement, prices: paths.prices },
    web: { ...web, reports: paths.reports },
  };
}

/** An embedded world with something of everything on the dashboard: zones, prices, blocks, advice, shares of CPU, a report of a simulation. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { customResourceDefinition } from '../../api/crd/crd.ts';
import { crdDescriptions } from '../../api/crd/crds.ts';
import { resources } from '../../api/resources.ts';
import { reportText } from '../../web/dashboard/testing/reports.ts';
import type { WorkloadAnswer } from '../../web/dashboard/workload-answer.ts';
import { type AllocatedWorld, startAllocatedWorld } from './allocated-world.ts';
import { statefulSetObject } from './embedded-world.ts';
import { statefulSet } from './replicas.ts';
import { createPolicy, deployLoaded } from './sized-world.ts';

export interface DashboardWorld extends AllocatedWorld {
  /** Ends with a slash. */
  readonly url: string;
  /** Folder of reports of simulations; it holds one, storm.json. */
  readonly reports: string;
}

const GIB = 1024 ** 3;
const PRICES = `
instanceTypes:
  m7.xlarge: { onDemand: 0.2016, spotDiscount: 68% }
`;
const places = [
  ['spot', 'eu-west-1a'],
  ['spot', 'eu-west-1b'],
  ['spot', 'eu-west-1c'],
  ['on-demand', 'eu-west-1a'],
  ['on-demand', 'eu-west-1b'],
] as const;
const enabled = { 'spotalis.io/enabled': 'true' };
const shares = (percentage: number, floor: number): Record<string, string> => ({
  'spotalis.io/spot-percentage': String(percentage),
  'spotalis.io/min-on-demand': String(floor),
});

/** Workloads are there; nothing has come to rest yet. */
export async function startDashboardWorld(): Promise<DashboardWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-dashboard-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const prices = join(folder, 'prices.yaml');
  writeFileSync(prices, PRICES);
  const reports = join(folder, 'reports');
  mkdirSync(reports);
  writeFileSync(join(reports, 'storm.json'), reportText());
  const world = await startAllocatedWorld({
    dashboard: true,
    isRightsizing: true,
    allocation: '  managementMode: optOut',
    env: { STOWAGE_ALLOCATION_MANAGEMENT_MODE: 'optOut' },
    metricsEveryMillis: 5_000,
    nodes: places.map(([side, zone], index) => ({
      name: `${side}-${zone.slice(-2)}-${index}`,
      cpuMillis: 4000,
      memoryBytes: 16 * GIB,
      labels: {
        'karpenter.sh/capacity-type': side,
        'topology.kubernetes.io/zone': zone,
        'node.kubernetes.io/instance-type': 'm7.xlarge',
      },
    })),
    config: [
      `placement: { prices: ${JSON.stringify(prices)} }`,
      `web: { reports: ${JSON.stringify(reports)} }`,
      'controllers: { workloadTiming: { cooldownPeriod: 5s } }',
      'rightsizing: { sampleInterval: 5s, warmUp: 0s, reconcileInterval: 1s }',
    ].join('\n'),
  });
  for (const description of crdDescriptions) await world.cluster.apply([customResourceDefinition(description)]);
  const deploy = (name: string, replicas: number, cpu: string, annotations: Record<string, string>) =>
    deployLoaded(world, {
      name,
      replicas,
      cpu,
      annotations,
      labels: enabled,
      requests: { cpu: '300m', memory: '256Mi' },
    });
  // Admitted without being asked about, and its window is hardly ever open: what is on the wrong side stays there.
  world.setWebhookUp(false);
  const closed = { 'spotalis.io/disruption-schedule': '0 0 29 2 *', 'spotalis.io/disruption-duration': '1s' };
  await deploy('checkout', 6, '90m', { ...shares(100, 0), ...closed });
  await world.until('its pods run', async () => {
    const { spot, 'on-demand': onDemand } = await world.sides('shop', 'checkout');
    return spot + onDemand === 6;
  });
  world.setWebhookUp(true);
  await deploy('web', 8, '120m', shares(70, 1));
  await deploy('api', 5, '220m', shares(50, 2));
  await deploy('search', 4, '60m', shares(100, 0));
  await deploy('broken', 1, '10m', { 'spotalis.io/spot-percentage': 'lots' });
  await deployLoaded(world, { name: 'legacy', replicas: 2, cpu: '30m' });
  const inShop = { namespace: 'shop' };
  await world.api.create(
    resources.statefulSets,
    statefulSetObject({ name: 'cart', replicas: 3, annotations: shares(34, 1) }),
    inShop,
  );
  await createPolicy(world, { mode: 'Recommend' });
  return { ...world, reports, url: `http://127.0.0.1:${world.operator().ports.dashboard}/` };
}

/** The StatefulSet `shop/db` of three replicas, each with a size of its own. */
export async function addReplicasOfTheirOwn(world: DashboardWorld): Promise<void> {
  const set = statefulSet(3);
  const metadata = { ...set.metadata, labels: { split: 'true' } };
  await world.api.create(resources.statefulSets, { ...set, metadata }, { namespace: 'shop' });
  await createPolicy(world, {
    name: 'split',
    mode: 'Auto',
    updates: { sizePerReplica: true },
    spec: { selector: { workloadSelector: { matchLabels: { split: 'true' } } } },
  });
  await world.until('each has a size of its own', async () => {
    await world.clock.advance(2_000);
    const told = await fetch(`${world.url}api/workload?of=StatefulSet/shop/db`);
    const { sizing } = (await told.json()) as WorkloadAnswer;
    return sizing?.replicas?.filter(({ size }) => size === 'own').length === 3;
  });
}

/** Every informer of every engine tells Prometheus how old its picture is. */
import { expect, onTestFinished, test } from 'vitest';
import { customResourceDefinition, customResourceDefinitions } from '../api/crd/crd.ts';
import { crdDescriptions } from '../api/crd/crds.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { type NamedInformer, reportClocks, reportStores } from './store-metrics.ts';
import { rolloutDefinition } from './testing/argo-rollout.ts';
import { createEmbeddedWorld } from './testing/embedded-world.ts';
import { deploy, MINUTE, policy, startWorld } from './testing/steps.ts';

test('how old what is known is, of what each engine reads', async () => {
  const metrics = createMetrics();
  const config = 'engines: { rightsizing: true, allocation: true }';
  const world = await createEmbeddedWorld({ metrics, config, spotNodes: 1, onDemandNodes: 1 });
  onTestFinished(() => world.stop());
  for (const description of crdDescriptions) await world.cluster.apply([customResourceDefinition(description)]);
  await world.api.create(customResourceDefinitions, rolloutDefinition());
  await world.startOperator();
  await world.clock.advance(2 * MINUTE);
  const ages = async (): Promise<ReadonlyMap<string, number>> => {
    const lines = (await metrics.render()).matchAll(/^stowage_informer_age_seconds\{resource="([^"]+)"\} (\S+)$/gm);
    return new Map([...lines].map(([, resource = '', age]) => [resource, Number(age)]));
  };
  const first = await ages();
  expect(Object.fromEntries(first)).toMatchObject({
    ...{ pods: 0, nodes: 0, pdbs: 0, rollouts: 0 },
    ...{ daemonSets: 0, limitRanges: 0, quotas: 0, hpas: 0, vpas: 0 },
    ...{ 'optimizationpolicies.optipod.io': 0, 'optimizationpolicies.optipod.optipod.io': 0 },
    'podallocations.allocation.mbcas.io': 0,
  });
  const resources = ['horizontalpodautoscalers', 'optimizationpolicies'];
  world.server.faults.add({ resources, effect: { kind: 'outage' } });
  await world.clock.advance(5 * MINUTE);
  const later = await ages();
  expect(later.get('hpas')).toBeGreaterThan(120);
  expect(later.get('optimizationpolicies.optipod.io')).toBeGreaterThan(120);
  expect(later.get('pods')).toBe(0);
});

test('a type that is no longer followed has no age', async () => {
  const metrics = createMetrics();
  const clock = createVirtualClock(10_000);
  const stale = { store: { size: 1 }, freshness: () => 'stale' as const, lastContactMillis: () => 4_000 };
  let followed: readonly NamedInformer[] = [['rollouts', stale]];
  reportStores(metrics, () => followed, clock);
  expect(await metrics.render()).toContain('stowage_informer_age_seconds{resource="rollouts"} 6');
  followed = [];
  expect(await metrics.render()).not.toContain('resource="rollouts"');
});

test('a type that was never answered for grows old like one that is no longer; what is assumed has no age', async () => {
  const metrics = createMetrics();
  const clock = createVirtualClock(10_000);
  let contactMillis = 0;
  const unheard = { store: { size: 0 }, freshness: () => 'initial' as const, lastContactMillis: () => contactMillis };
  const assumed = { store: { size: 1 }, freshness: () => 'fresh' as const, lastContactMillis: () => 0 };
  const followed: readonly NamedInformer[] = [
    ['policies', unheard],
    ['nodes', assumed],
  ];
  reportStores(metrics, () => followed, clock);
  const ages = async (): Promise<readonly string[]> =>
    (await metrics.render()).split('\n').filter((line) => line.startsWith('stowage_informer_age_seconds{'));
  expect(await ages()).toEqual([]);
  await clock.advance(150_000);
  expect(await ages()).toEqual(['stowage_informer_age_seconds{resource="policies"} 150']);
  contactMillis = clock.now();
  await clock.advance(7_000);
  expect(await ages()).toEqual(['stowage_informer_age_seconds{resource="policies"} 7']);
});

test('how many clocks are off', async () => {
  const metrics = createMetrics();
  reportClocks(metrics, { counts: () => ({ node: 2, scheduler: 0, 'api-server': 1 }) });
  const lines = (await metrics.render()).split('\n').filter((line) => line.startsWith('stowage_clocks_off{'));
  expect(lines).toEqual([
    'stowage_clocks_off{teller="node"} 2',
    'stowage_clocks_off{teller="scheduler"} 0',
    'stowage_clocks_off{teller="api-server"} 1',
  ]);
});

test('clocks of nodes that are off are counted by the operator, once that shows again minutes later', async () => {
  const metrics = createMetrics();
  const world = await startWorld({ metrics, nodesAheadMillis: 60 * MINUTE, spotNodes: 0, onDemandNodes: 1 });
  const off = async (): Promise<string | undefined> =>
    /^stowage_clocks_off\{teller="node"\} (\S+)$/m.exec(await metrics.render())?.[1];
  await deploy(world, 2, policy(0));
  expect(await off()).toBe('0');
  await world.clock.advance(6 * MINUTE);
  await deploy(world, 2, policy(0), 'api');
  expect(await off()).toBe('1');
});

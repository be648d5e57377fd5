/** What allocation does with wishes that no single step fulfils, and what it tells of pods, on the embedded cluster. */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { loadedPod, startAllocatedWorld } from './testing/allocated-world.ts';
import { wish } from './testing/wish.ts';
import { untilPhase, worldOf } from './testing/wished-world.ts';

const inShop = { namespace: 'shop' };

describe('steps', () => {
  test('a pod that asked for a thirtieth of what it needs gets it in two', async () => {
    const world = await worldOf([{ name: 'web', request: '100m' }], {
      nodes: [{ cpuMillis: 8000 }],
      resizeMillis: 2000,
    });
    await wish(world, 'web', { request: 3000, urgent: true });
    await world.until('the first step', async () => (await world.request('web')) === 1000, 5000);
    await untilPhase(world, 'web', 'Applied');
    expect([await world.request('web'), world.resizes()]).toEqual([3000, 2]);
  });

  test('more than the node has is a mistake', async () => {
    const world = await worldOf([{ name: 'web' }]);
    await wish(world, 'web', { request: 2001 });
    await untilPhase(world, 'web', 'Pending', 'SafetyCheckFailed');
    expect(world.resizes()).toBe(0);
  });
});

describe('what is told', () => {
  test('an annotation that is not understood, once', async () => {
    const world = await worldOf([{ name: 'web', annotations: { 'mbcas.io/min-cpu': 'much' } }]);
    for (const request of [300, 400]) {
      await wish(world, 'web', { request, urgent: true });
      await untilPhase(world, 'web', 'Applied');
    }
    expect((await world.events('CPUAnnotationIgnored')).map(({ note }) => note)).toEqual([
      expect.stringContaining('mbcas.io/min-cpu: "much" is not valid and ignored'),
    ]);
  });

  test('integration 8: that a node has lost the labels a pod requires', async () => {
    const term = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['fast'] }] };
    const spec: NonNullable<Pod['spec']> = {
      containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '200m', memory: '64Mi' } } }],
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
    };
    const world = await startAllocatedWorld({
      startsAgents: false,
      nodes: [{ labels: { disk: 'fast' } }],
      allocation: '  nodeAffinity: true',
    });
    await world.api.create(resources.pods, loadedPod({ name: 'web', spec }));
    await world.clock.advance(5000);
    await wish(world, 'web', { request: 300 });
    await untilPhase(world, 'web', 'Applied');
    expect(await world.events('CPUAffinityBroken')).toEqual([]);
    const body = { metadata: { labels: { disk: 'slow' } } };
    await world.api.patch(resources.nodes, 'node-1', { type: 'merge', body }, {});
    await world.until('told', async () => (await world.events('CPUAffinityBroken')).length === 1, 30_000);
  });

  test('integration 4: the journal keeps the rules that moved a size', async () => {
    const world = await startAllocatedWorld({ startsAgents: false });
    const limits = [{ type: 'Container', max: { cpu: '500m' } }];
    await world.api.create(resources.limitRanges, { metadata: { name: 'bounds' }, spec: { limits } }, inShop);
    const labels = { app: 'web', 'mbcas.io/managed': 'true' };
    const amounts = { requests: { cpu: '200m', memory: '64Mi' }, limits: { cpu: '400m' } };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'app', image: 'app:1', resources: amounts }] },
    };
    const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template };
    await world.api.create(resources.deployments, { metadata: { name: 'web' }, spec }, inShop);
    const podName = async () => (await world.api.list(resources.pods, inShop)).items[0]?.metadata?.name;
    await world.until('a pod', async () => (await podName()) !== undefined, 10_000);
    await world.clock.advance(5000);
    const name = (await podName()) ?? '';
    await wish(world, name, { request: 800, limit: 900 });
    await world.until('resized', async () => (await world.request(name)) === 500, 10_000);
    await world.clock.advance(5000);
    const { journal = [] } = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' }) ?? {};
    expect(journal.find(({ reason }) => reason === 'CPUApplied')?.numbers).toMatchObject({
      rules: expect.stringContaining('LimitRange: max 800m -> 500m'),
    });
  });
});

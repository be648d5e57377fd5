import { expect, test } from 'vitest';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { settled } from '../../lib/testing/settled.ts';
import { createPods, startAllocatedWorld } from '../../operator/testing/allocated-world.ts';
import { inShop } from '../../operator/testing/steps.ts';
import { restorePods } from './restore-pods.ts';

test('pods get back what they had though what was asked for last is deferred, and nobody waits for it', async () => {
  const world = await startAllocatedWorld({ startsAgents: false });
  const annotations = { [sizingKeys.allocationOriginals]: '{"app":{"requests":{"cpu":"200m"}}}' };
  await createPods(world.api, [
    { name: 'other', request: '1500m' },
    { name: 'web', request: '200m', annotations },
  ]);
  await world.clock.advance(5000);
  await world.operator().stop();
  const amounts = { requests: { cpu: '1500m', memory: '64Mi' } };
  const body = { spec: { containers: [{ name: 'app', resources: amounts }] } };
  const options = { ...inShop, subresource: 'resize', fieldManager: 'mbcas-controller' } as const;
  await world.api.patch(resources.pods, 'web', { type: 'strategic', body }, options);
  await world.clock.advance(5000);
  const conditionsOf = async () => (await world.api.get(resources.pods, 'web', inShop)).status?.conditions ?? [];
  expect(await conditionsOf()).toContainEqual(
    expect.objectContaining({ type: 'PodResizePending', reason: 'Deferred' }),
  );
  const request = { engines: ['allocation'] as const, namespace: 'shop', isDryRun: false };
  const work = restorePods(world.api, request, world.clock, new AbortController().signal);
  expect(await settled(world.clock, work)).toMatchObject([{ pod: 'shop/web', result: 'restored' }]);
  await world.clock.advance(5000);
  expect(await conditionsOf()).not.toContainEqual(expect.objectContaining({ type: 'PodResizePending' }));
});

test('a limit of ours that nobody knows how far to raise is left for later, and with it what is kept of the pod', async () => {
  const world = await startAllocatedWorld({ startsAgents: false });
  const annotations = { [sizingKeys.allocationOriginals]: '{"app":{"requests":{"cpu":"200m"}}}' };
  await createPods(world.api, [{ name: 'web', request: '300m', limit: '600m', annotations }]);
  await world.clock.advance(5000);
  await world.operator().stop();
  const node = await world.api.get(resources.nodes, 'node-1');
  const status = { ...node.status, allocatable: { ...node.status?.allocatable, cpu: '0' } };
  const api = {
    ...world.api,
    list: async (type: { readonly plural: string }, options: object) =>
      type.plural === 'nodes'
        ? { items: [{ ...node, status }], metadata: {} }
        : await world.api.list(type as typeof resources.pods, options),
  } as unknown as KubeApi;
  const request = { engines: ['allocation'] as const, namespace: 'shop', isDryRun: false };
  const told = await restorePods(api, request, world.clock, new AbortController().signal);
  expect(told).toMatchObject([{ pod: 'shop/web', result: 'kept', message: expect.stringContaining('not known now') }]);
  const pod = await world.api.get(resources.pods, 'web', inShop);
  expect(pod.metadata?.annotations?.[sizingKeys.allocationOriginals]).toBeDefined();
});

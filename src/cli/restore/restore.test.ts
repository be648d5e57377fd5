import { expect, test } from 'vitest';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { createTestServer } from '../../cluster/apiserver/testing/test-server.ts';
import { settled } from '../../lib/testing/settled.ts';
import { createPods, startAllocatedWorld } from '../../operator/testing/allocated-world.ts';
import {
  createPolicy,
  deployLoaded,
  loadedDeployment,
  startSizedWorld,
  statusOf,
} from '../../operator/testing/sized-world.ts';
import { inShop, untilReady } from '../../operator/testing/steps.ts';
import { wish } from '../../operator/testing/wish.ts';
import { changedTemplates } from './changed-templates.ts';
import { type RestoredPod, restorePods } from './restore-pods.ts';
import { lineOf, summaryOf } from './run-restore.ts';

test('an uninstall gives pods back what they had, decreases first; told once, and then there is nothing left', async () => {
  const world = await startAllocatedWorld({ startsAgents: false });
  await createPods(world.api, [
    { name: 'a', request: '1500m' },
    { name: 'b', request: '300m' },
  ]);
  await world.clock.advance(5000);
  await wish(world, 'a', { request: 400 });
  await wish(world, 'b', { request: 1400, limit: 1600 });
  await world.until('resized', async () => (await world.allocation('b'))?.status?.phase === 'Applied', 30_000);
  await world.operator().stop();

  let looks = 0;
  const api: KubeApi = {
    ...world.api,
    list(type, options) {
      if (type.plural === 'pods' && options?.fieldSelector === undefined) looks++;
      return world.api.list(type, options);
    },
  };
  const run = async (isDryRun: boolean) => {
    looks = 0;
    const work = restorePods(
      api,
      { engines: ['allocation', 'rightsizing'], namespace: 'shop', isDryRun },
      world.clock,
      new AbortController().signal,
    );
    return await settled(world.clock, work);
  };
  expect((await run(true)).map(({ pod, result }) => [pod, result])).toEqual([
    ['shop/b', 'would'],
    ['shop/a', 'would'],
  ]);
  expect(await world.request('a')).toBe(400);
  const refusal = world.server.faults.add({
    verbs: ['patch'],
    resources: ['pods'],
    effect: { kind: 'status', code: 403 },
  });
  const half = await run(false);
  // All pods are looked at once, however many are given back.
  expect(looks).toBe(1);
  expect(half.map(({ pod, result }) => [pod, result])).toEqual([
    ['shop/b', 'refused'],
    ['shop/a', 'refused'],
  ]);
  expect(half[0]?.message).toContain(`but the annotation ${sizingKeys.allocationOriginals} cannot be taken off: `);
  refusal.remove();
  expect((await run(false)).map(({ pod, result }) => [pod, result])).toEqual([
    ['shop/a', 'restored'],
    ['shop/b', 'restored'],
  ]);
  expect([await world.request('a'), await world.request('b')]).toEqual([1500, 300]);
  const { metadata, spec } = await world.pod('b');
  expect(metadata?.annotations?.[sizingKeys.allocationOriginals]).toBeUndefined();
  // It cannot be removed: the node's whole CPU bounds nothing.
  expect(spec?.containers[0]?.resources?.limits).toEqual({ cpu: '2' });
  expect(await run(false)).toEqual([]);
});

test.each([
  ['what rightsizing had raised', { had: 200, rightsized: 500, now: 400 }],
  ['what rightsizing had raised, with a share above both', { had: 200, rightsized: 500, now: 800 }],
  ['what rightsizing had lowered', { had: 700, rightsized: 300, now: 600 }],
  ['a share that happens to be as it was', { had: 200, rightsized: 500, now: 200 }],
])('a pod that both engines changed has what it had before either: %s', async (_, { had, rightsized, now }) => {
  const world = await startAllocatedWorld({ startsAgents: false });
  await createPods(world.api, [{ name: 'a', request: `${now}m` }]);
  await world.clock.advance(5000);
  await world.operator().stop();
  const kept = (cpu: number): string => JSON.stringify({ app: { requests: { cpu: `${cpu}m` } } });
  const annotations = { [sizingKeys.originalResources]: kept(had), [sizingKeys.allocationOriginals]: kept(rightsized) };
  await world.api.patch(resources.pods, 'a', { type: 'merge', body: { metadata: { annotations } } }, inShop);
  const giveBack = async (...engines: ('allocation' | 'rightsizing')[]) => {
    const request = { engines, namespace: 'shop', isDryRun: false };
    const work = restorePods(world.api, request, world.clock, new AbortController().signal);
    return (await settled(world.clock, work)).map(({ result }) => result);
  };
  expect(await giveBack('allocation', 'rightsizing')).toEqual(['restored', 'restored']);
  expect(await world.request('a')).toBe(had);
  const { metadata } = await world.pod('a');
  expect(Object.keys(metadata?.annotations ?? {}).filter((key) => key in annotations)).toEqual([]);
});

test('of a workload that is paused, lest its pods are sized again, they are given back all the same', async () => {
  const world = await startSizedWorld();
  await deployLoaded(world);
  await untilReady(world, 'web', 2);
  await createPolicy(world, { mode: 'Auto' });
  await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
  await world.api.patch(
    resources.deployments,
    'web',
    { type: 'merge', body: { metadata: { annotations: { [rightsizingKeys.paused]: 'true' } } } },
    inShop,
  );
  await world.operator().stop();
  const request = { engines: ['rightsizing'] as const, namespace: 'shop', isDryRun: false };
  const work = restorePods(world.api, request, world.clock, new AbortController().signal);
  expect((await settled(world.clock, work)).map(({ result, message }) => `${result}: ${message}`)).toEqual(
    Array(2).fill('restored: puts back the sizes from before Stowage'),
  );
});

const kept = { pod: 'shop/a', engine: 'allocation', result: 'kept', message: 'Node n1 has 99m of cpu left' } as const;
const restored = { ...kept, pod: 'shop/b', result: 'restored' } as const;

test.each<[string, readonly RestoredPod[], string]>([
  ['nothing', [], 'No pod has sizes of Stowage.'],
  ['one', [restored], '1 pod was given back.'],
  ['all', [restored, { ...restored, pod: 'shop/c' }], '2 pods were given back.'],
  ['one that both engines changed', [restored, { ...restored, engine: 'rightsizing' }], '1 pod was given back.'],
  [
    'one of which half is left, beside another',
    [{ ...kept, engine: 'rightsizing', result: 'restored' }, kept, restored],
    '1 pod of 2 could not be given back now; run the command again.',
  ],
  ['a dry run', [{ ...kept, result: 'would' }], '1 pod would be given back.'],
  ['one that was deleted meanwhile', [restored, { ...kept, result: 'gone' }], '1 pod was given back.'],
  ['what is left', [kept, restored], '1 pod of 2 could not be given back now; run the command again.'],
])('%s is summed up', (_, pods, expected) => {
  expect(summaryOf(pods)).toBe(expected);
});

test('a line a pod', () => {
  expect(lineOf(kept)).toBe('shop/a  allocation  kept  Node n1 has 99m of cpu left');
});

test('templates that were changed are told with the command that takes them back', async () => {
  const { api } = createTestServer();
  await api.create(resources.namespaces, { metadata: { name: 'shop' } });
  const annotations = { [sizingKeys.originalResources]: '{"app":{"requests":{"cpu":"500m"}}}' };
  const changed = loadedDeployment({ annotations });
  for (const deployment of [changed, loadedDeployment({ name: 'api' })])
    await api.create(resources.deployments, deployment, { namespace: 'shop' });
  const reader = { api, signal: new AbortController().signal };
  expect(await changedTemplates(reader, undefined)).toEqual([
    'Deployment shop/web: its template was changed, too, and had {"app":{"requests":{"cpu":"500m"}}}. Apply your manifest, or: kubectl -n shop rollout undo deployment/web',
  ]);
  expect(await changedTemplates(reader, 'mail')).toEqual([]);
});

test('pods of several nodes are given back at the same time, of one node one after the other', async () => {
  const world = await startAllocatedWorld({ startsAgents: false, nodes: [{}, {}] });
  const names = ['a', 'b', 'c', 'd'];
  await createPods(
    world.api,
    names.map((name, index) => ({ name, request: '300m', node: index < 2 ? 'node-1' : 'node-2' })),
  );
  await world.clock.advance(5000);
  for (const name of names) await wish(world, name, { request: 600, urgent: true });
  for (const name of names)
    await world.until('resized', async () => (await world.allocation(name))?.status?.phase === 'Applied', 30_000);
  await world.operator().stop();
  const asked: { readonly pod: string; readonly at: number }[] = [];
  const api: KubeApi = {
    ...world.api,
    patch(type, name, patch, options) {
      if (options?.subresource === 'resize') asked.push({ pod: name, at: world.clock.now() });
      return world.api.patch(type, name, patch, options);
    },
  };
  const told: string[] = [];
  const onTold = ({ pod }: RestoredPod): void => void told.push(pod);
  const request = { engines: ['allocation'] as const, namespace: undefined, isDryRun: false, onTold };
  const work = restorePods(api, request, world.clock, new AbortController().signal);
  expect((await settled(world.clock, work)).map(({ result }) => result)).toEqual(names.map(() => 'restored'));
  expect(told.toSorted()).toEqual(names.map((name) => `shop/${name}`));
  const begun = (pods: readonly string[]) => asked.filter(({ pod }) => pods.includes(pod)).map(({ at }) => at);
  const [first, second] = [begun(['a', 'b']), begun(['c', 'd'])];
  expect(first[0]).toBe(second[0]);
  expect(first[1]).toBeGreaterThan(first[0] ?? 0);
});

test('pods that have ended, end, or are deleted meanwhile leave nothing to be done', async () => {
  const world = await startAllocatedWorld({ startsAgents: false });
  const annotations = { [sizingKeys.allocationOriginals]: '{"app":{"requests":{"cpu":"200m"}}}' };
  const names = ['failed', 'ending', 'deleted', 'left'];
  await createPods(
    world.api,
    names.map((name) => ({ name, request: '300m', annotations, spec: { terminationGracePeriodSeconds: 600 } })),
  );
  await world.clock.advance(5000);
  await world.operator().stop();
  const status = { phase: 'Failed', reason: 'NodeShutdown' } as const;
  await world.api.patch(
    resources.pods,
    'failed',
    { type: 'merge', body: { status } },
    { ...inShop, subresource: 'status' },
  );
  const api: KubeApi = {
    ...world.api,
    async patch(type, name, patch, options) {
      // Somebody is faster.
      if (name === 'deleted') await world.api.delete(type, name, { ...inShop, gracePeriodSeconds: 0 });
      return await world.api.patch(type, name, patch, options);
    },
  };
  await world.api.delete(resources.pods, 'ending', inShop);
  const request = { engines: ['allocation'] as const, namespace: 'shop', isDryRun: false };
  const work = restorePods(api, request, world.clock, new AbortController().signal);
  expect((await settled(world.clock, work)).map(({ pod, result }) => [pod, result])).toEqual([
    ['shop/deleted', 'gone'],
    ['shop/left', 'restored'],
  ]);
});

test('what goes wrong with one pod keeps no other from what it had; the end of the command keeps all', async () => {
  const world = await startAllocatedWorld({ startsAgents: false, nodes: [{}, {}] });
  const names = ['a', 'b', 'c'];
  await createPods(
    world.api,
    names.map((name) => ({ name, request: '300m', node: name === 'c' ? 'node-2' : 'node-1' })),
  );
  await world.clock.advance(5000);
  for (const name of names) await wish(world, name, { request: 600, urgent: true });
  for (const name of names)
    await world.until('resized', async () => (await world.allocation(name))?.status?.phase === 'Applied', 30_000);
  await world.operator().stop();
  let isBroken = true;
  const api: KubeApi = {
    ...world.api,
    list(type, options) {
      if (isBroken && options?.fieldSelector === 'spec.nodeName=node-1') {
        isBroken = false;
        throw new Error('socket hang up');
      }
      return world.api.list(type, options);
    },
  };
  const request = { engines: ['allocation'] as const, namespace: undefined, isDryRun: false };
  await expect(restorePods(api, request, world.clock, AbortSignal.abort(new Error('enough')))).rejects.toThrow(
    'enough',
  );
  isBroken = true;
  const work = restorePods(api, request, world.clock, new AbortController().signal);
  const results = (await settled(world.clock, work)).map(({ pod, result, message }) => [pod, result, message]);
  expect(results.filter(([, result]) => result === 'restored')).toHaveLength(2);
  expect(results.filter(([, result]) => result !== 'restored')).toEqual([
    [expect.stringMatching(/^shop\/[ab]$/), 'refused', 'socket hang up'],
  ]);
});

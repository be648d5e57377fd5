import { expect, test } from 'vitest';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { createPods, startAllocatedWorld } from '../../operator/testing/allocated-world.ts';
import { wish } from '../../operator/testing/wish.ts';
import { restorePods } from './restore-pods.ts';
import { renderRestored } from './run-restore.ts';

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
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    while (!isDone) await world.clock.advance(250);
    return await done;
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
  expect(renderRestored(await run(false))).toEqual(['No pod has sizes of Stowage.']);
});

test('what could not be given back is told', () => {
  const lines = renderRestored([
    { pod: 'shop/a', engine: 'allocation', result: 'kept', message: 'Node n1 has 99m of cpu left' },
  ]);
  expect(lines).toEqual([
    'shop/a  allocation  kept  Node n1 has 99m of cpu left',
    '1 pod could not be given back now.',
  ]);
});

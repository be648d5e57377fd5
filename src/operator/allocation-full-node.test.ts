/** What cannot be lowered on a full node: it is not promised to others, who would wait for it for ever. */
import { expect, test } from 'vitest';
import { KubeError } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import { createPods, startAllocatedWorld } from './testing/allocated-world.ts';
import { containers, statusOf, untilPhase } from './testing/wished-world.ts';

const inShop = { namespace: 'shop' };

test('integration 6: two pods that claim more beside one whose budget is short get the same, and neither waits', async () => {
  const world = await startAllocatedWorld();
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } };
  await world.api.create(resources.podDisruptionBudgets, { metadata: { name: 'kept' }, spec }, inShop);
  const annotations = { 'mbcas.io/min-cpu': '900m', 'mbcas.io/workload-type': 'latency' };
  await createPods(world.api, [
    { name: 'kept', cpu: '20m', request: '900m' },
    { name: 'a', cpu: '1500m', request: '400m', annotations },
    { name: 'b', cpu: '1500m', request: '400m', annotations },
  ]);
  // All three may not be lowered at first, as they have just started.
  await world.clock.advance(120_000);
  for (const name of ['a', 'b']) await untilPhase(world, name, 'Applied');
  // 1900m of the node, less what the budget keeps, by half.
  expect(await Promise.all(['kept', 'a', 'b'].map((name) => world.request(name)))).toEqual([900, 500, 500]);
  const sent = world.resizes();
  await world.clock.advance(60_000);
  expect(world.resizes()).toBe(sent);
});

test('integration 6: beside one whose resizes a policy of the cluster denies, likewise; it is tried again now and then', async () => {
  let denied = 0;
  const world = await startAllocatedWorld({
    onWrite({ subresource, name }) {
      if (subresource !== 'resize' || name !== 'kept') return;
      denied++;
      throw new KubeError(403, undefined, 'admission webhook "sizes.example.com" denied the request: fixed');
    },
  });
  const annotations = { 'mbcas.io/min-cpu': '900m', 'mbcas.io/workload-type': 'latency' };
  await createPods(world.api, [
    { name: 'kept', cpu: '20m', request: '900m' },
    { name: 'a', cpu: '1500m', request: '400m', annotations },
    { name: 'b', cpu: '1500m', request: '400m', annotations },
  ]);
  await world.until('it was denied twice', async () => denied === 2, 240_000);
  for (const name of ['a', 'b']) await untilPhase(world, name, 'Applied');
  const requests = () => Promise.all(['kept', 'a', 'b'].map((name) => world.request(name)));
  expect(await requests()).toEqual([900, 500, 500]);
  const { conditions = [] } = await statusOf(world, 'kept');
  expect(conditions.find(({ type }) => type === 'Constrained')?.message).toContain('ResizeRefused');
  const sent = world.resizes();
  await world.clock.advance(30 * 60_000);
  expect(await requests()).toEqual([900, 500, 500]);
  // Of the others none was touched for it.
  expect(world.resizes() - sent).toBe(denied - 2);
  expect(denied).toBeGreaterThan(4);
  expect(denied).toBeLessThan(12);
});

test('allocation bug 15: what a static CPU manager does not give up is counted on only until that is known', async () => {
  const world = await startAllocatedWorld({ nodes: [{ cpuManagerPolicy: 'static' }] });
  const amounts = { cpu: '900m', memory: '64Mi' };
  const guaranteed = { spec: containers(amounts, amounts), annotations: { 'mbcas.io/skip-guaranteed': 'false' } };
  await createPods(world.api, [
    { name: 'fixed', cpu: '20m', ...guaranteed },
    { name: 'busy', cpu: '1900m', request: '800m', annotations: { 'mbcas.io/workload-type': 'latency' } },
  ]);
  await world.until('refused', async () => (await world.events('CPUWithdrawn')).length === 1, 180_000);
  await untilPhase(world, 'fixed', 'Pending', 'ExclusiveCpus');
  await untilPhase(world, 'busy', 'Applied');
  expect((await statusOf(world, 'fixed')).guidance).toMatchObject({ hasStaticCpuManager: true });
  expect(await Promise.all(['fixed', 'busy'].map((name) => world.request(name)))).toEqual([900, 800]);
  const sent = world.resizes();
  await world.clock.advance(60_000);
  expect(world.resizes()).toBe(sent);
});

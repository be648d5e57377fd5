/** Resizes of allocation under way: order, room, spacing, and what becomes of those a node does not grant. */
import { describe, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { beginMeddling } from '../simulator/meddlers.ts';
import { type AllocatedWorld, type AllocatedWorldOptions, watchCharges } from './testing/allocated-world.ts';
import { wish } from './testing/wish.ts';
import { containers, statusOf, untilPhase, worldOf } from './testing/wished-world.ts';

const inShop = { namespace: 'shop' };

describe('what is in flight', () => {
  test('allocation bug 2, 11: raises wait until decreases are in force; the sum stays within the node at every event', async () => {
    const world = await worldOf(
      [
        { name: 'a', request: '900m' },
        { name: 'b', request: '900m' },
      ],
      { resizeMillis: 4000 },
    );
    const charges = watchCharges(world);
    await wish(world, 'b', { request: 1500 });
    await wish(world, 'a', { request: 300 });
    await world.until('a is asked to give', async () => (await world.request('a')) === 300, 5000);
    await world.clock.advance(1500);
    expect(await statusOf(world, 'b')).toMatchObject({ phase: 'Pending', reason: 'CapacityInFlight' });
    expect(await world.request('b')).toBe(900);
    await untilPhase(world, 'b', 'Applied');
    expect(await world.request('b')).toBe(1500);
    expect(charges.most()).toBeLessThanOrEqual(2000);
  });

  test('allocation bug 8: while a resize is under way no second one is sent', async () => {
    const world = await worldOf([{ name: 'web' }], { resizeMillis: 5000 });
    await wish(world, 'web', { request: 300 });
    await world.until('sent', () => world.resizes() === 1, 3000);
    await wish(world, 'web', { request: 400, urgent: true });
    await world.clock.advance(3000);
    expect(world.resizes()).toBe(1);
    expect(await world.request('web')).toBe(300);
    await untilPhase(world, 'web', 'Applied');
    expect(await world.request('web')).toBe(400);
    expect(world.resizes()).toBe(2);
  });

  test('allocation bug 9: A to B to A within two seconds is spaced', async () => {
    const world = await worldOf([{ name: 'web' }]);
    await wish(world, 'web', { request: 400 });
    await world.until('sent', () => world.resizes() === 1, 3000);
    await wish(world, 'web', { request: 200 });
    await untilPhase(world, 'web', 'Pending', 'Spacing');
    const from = world.clock.now();
    await world.until('sent again', () => world.resizes() === 2, 15_000);
    expect(world.clock.now() - from).toBeGreaterThan(5000);
  });

  test('a size that a webhook of others changes on its way is not asked for again and again', async () => {
    const world = await worldOf([{ name: 'web' }]);
    await beginMeddling(world, 'round-sizes');
    await wish(world, 'web', { request: 330, urgent: true });
    await world.until('rounded', async () => (await world.request('web')) === 350, 5000);
    await world.clock.advance(60_000);
    expect(world.resizes()).toBeLessThanOrEqual(4);
    expect(await statusOf(world, 'web')).toMatchObject({ phase: 'Pending', reason: 'ChangeBackoff' });
    expect((await world.events('CPURefused'))[0]?.note).toContain('Somebody else sets another size');
  });

  test('allocation bug 11: a resize that stays Deferred is taken back after 15 s, and not tried again at once', async () => {
    const world = await worldThatDefers('4', '2');
    await wish(world, 'b', { request: 1500 });
    await world.until('asked', async () => (await world.request('b')) === 1500, 5000);
    const askedAt = world.clock.now();
    await world.until('taken back', async () => (await world.request('b')) === 900, 30_000);
    const took = world.clock.now() - askedAt;
    expect(took).toBeGreaterThanOrEqual(14_000);
    expect(took).toBeLessThan(20_000);
    await world.until('told', async () => (await world.events('CPUWithdrawn')).length === 1, 5000);
    const sent = world.resizes();
    await world.clock.advance(8000);
    expect(world.resizes()).toBe(sent);
  });

  test('allocation bug 10, 15: an infeasible size is taken back at once and remembered, also by the next leader: a static CPU manager refuses any', async () => {
    const amounts = { cpu: '250m', memory: '64Mi' };
    const annotations = { 'mbcas.io/skip-guaranteed': 'false' };
    const pods = [{ name: 'web', spec: containers(amounts, amounts), annotations }];
    const world = await worldOf(pods, { nodes: [{ cpuManagerPolicy: 'static' }] });
    await wish(world, 'web', { request: 300, limit: 300 });
    await world.until('withdrawn', async () => (await world.events('CPUWithdrawn')).length === 1, 10_000);
    await world.until('as before', async () => (await world.request('web')) === 250, 5000);
    const sent = world.resizes();
    expect(sent).toBe(2);
    await world.clock.advance(20_000);
    await wish(world, 'web', { request: 400, limit: 400, urgent: true });
    await untilPhase(world, 'web', 'Pending', 'ExclusiveCpus');
    await wish(world, 'web', { request: 200, limit: 200, urgent: true });
    await world.clock.advance(10_000);
    const status = await statusOf(world, 'web');
    expect(status).toMatchObject({ reason: 'ExclusiveCpus', guidance: { hasStaticCpuManager: true } });
    expect(status.conditions?.find(({ type }) => type === 'Managed')?.status).toBe('False');
    await world.operator().stop();
    await world.startOperator('test_2');
    await wish(world, 'web', { request: 210, limit: 210, urgent: true });
    await world.clock.advance(60_000);
    expect(world.resizes()).toBe(sent);
  });

  test('allocation bug 7: a restart during a resize opens the breaker of that pod, for good and for the next leader', async () => {
    const world = await worldOf([{ name: 'web' }], { resizeMillis: 4000 });
    await wish(world, 'web', { request: 300 });
    await world.until('sent', () => world.resizes() === 1, 3000);
    world.cluster.kubelet.endContainer('shop/web', 'app', 1);
    await untilPhase(world, 'web', 'Pending', 'RestartedOnResize');
    expect((await world.events('CPUBreaker')).length).toBe(1);
    await wish(world, 'web', { request: 500 });
    await world.clock.advance(20_000);
    expect(world.resizes()).toBe(1);
    expect((await statusOf(world, 'web')).guidance).toMatchObject({ restartedOnResize: true });
    await world.operator().stop();
    await world.startOperator('test_2');
    await wish(world, 'web', { request: 510 });
    await world.clock.advance(60_000);
    expect(world.resizes()).toBe(1);
  });

  test('allocation bug 17: somebody else wrote the CPU: it is theirs, with an event', async () => {
    const world = await worldOf([{ name: 'web' }]);
    await wish(world, 'web', { request: 300 });
    await untilPhase(world, 'web', 'Applied');
    const body = { spec: { containers: [{ name: 'app', resources: { requests: { cpu: '450m' } } }] } };
    const options = { ...inShop, subresource: 'resize', fieldManager: 'kubectl-patch' };
    await world.api.patch(resources.pods, 'web', { type: 'strategic', body }, options);
    await untilPhase(world, 'web', 'Pending', 'ForeignWriter');
    expect((await world.events('CPUYielded')).map(({ note }) => note)).toEqual([
      expect.stringContaining('kubectl-patch'),
    ]);
    await world.clock.advance(30_000);
    expect(await world.request('web')).toBe(450);
    expect((await statusOf(world, 'web')).guidance).toMatchObject({ hasForeignWriter: true });
  });

  test('allocation bug 4: what differs by less than the kernel rounds is the same', async () => {
    const world = await worldOf([{ name: 'web', limit: '417m' }]);
    await wish(world, 'web', { request: 200, limit: 420 });
    await untilPhase(world, 'web', 'Applied');
    await world.clock.advance(30_000);
    expect(world.resizes()).toBeLessThanOrEqual(1);
  });

  test('a leader that takes over sees to what its predecessor left pending', async () => {
    const world = await worldThatDefers('4', '2');
    await wish(world, 'b', { request: 1500 });
    await world.until('asked', async () => (await world.request('b')) === 1500, 5000);
    await world.operator().stop();
    await world.startOperator('test_2');
    await world.until('taken back', async () => (await world.request('b')) === 900, 60_000);
  });
});

/** Pods a and b of 900m; the node shrinks at the moment the first resize leaves, so its kubelet says no. */
async function worldThatDefers(before: string, after: string): Promise<AllocatedWorld> {
  let shrink: (() => void) | undefined;
  const onWrite: AllocatedWorldOptions['onWrite'] = ({ subresource }) => {
    if (subresource === 'resize') shrink?.();
    if (subresource === 'resize') shrink = undefined;
  };
  const pods = [
    { name: 'a', request: '900m' },
    { name: 'b', request: '900m' },
  ];
  const world = await worldOf(pods, { onWrite });
  await setAllocatable(world, before);
  await world.clock.advance(1000);
  shrink = () => void setAllocatable(world, after);
  return world;
}

async function setAllocatable(world: AllocatedWorld, cpu: string): Promise<void> {
  const body = { status: { allocatable: { cpu } } };
  await world.api.patch(resources.nodes, 'node-1', { type: 'merge', body }, { subresource: 'status' });
}

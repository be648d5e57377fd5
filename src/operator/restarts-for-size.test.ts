/** What a size may cost: restarts and evictions are paced, worth it, and never at the expense of what the owner was promised. */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  createPolicy,
  deployLoaded,
  loadedDeployment,
  requestsOf,
  sizedEvents,
  sizedPods,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

const evicting = { allowInPlaceResize: false, allowRecreate: true, evictToResize: true };
const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
const restartsOf = async (world: EmbeddedWorld): Promise<number[]> =>
  (await sizedPods(world)).map(({ status }) => status?.containerStatuses?.[0]?.restartCount ?? 0);
const all = async (world: EmbeddedWorld, memory: string, app?: string): Promise<boolean> =>
  (await requestsOf(world, app)).every((requests) => requests['memory'] === memory);
const untilReason = (world: EmbeddedWorld, reason: string, limit?: number): Promise<void> =>
  world.until(`the reason is ${reason}`, async () => (await statusOf(world))?.reason === reason, limit);

/** A Deployment whose container restarts when its memory changes. */
async function deployRestarting(
  world: EmbeddedWorld,
  replicas: number,
  fields: Parameters<typeof loadedDeployment>[0] = {},
): Promise<void> {
  const web = loadedDeployment({ replicas, ...fields });
  const [app] = web.spec?.template?.spec?.containers ?? [];
  Object.assign(app ?? {}, { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] });
  await world.api.create(resources.deployments, web, inShop);
  await untilReady(world, 'web', replicas);
}

describe('a resize that restarts containers', () => {
  test('goes pod by pod, with the others ready', async () => {
    const world = await startSizedWorld();
    await deployRestarting(world, 3);
    await createPolicy(world, { mode: 'Auto', updates: { allowRecreate: true } });
    let fewest = 3;
    await world.until('all are resized', async () => {
      const pods = await sizedPods(world);
      fewest = Math.min(fewest, pods.filter(isReady).length);
      return all(world, '120Mi');
    });
    await world.clock.advance(MINUTE);
    expect(fewest).toBeGreaterThanOrEqual(2);
    expect(await restartsOf(world)).toEqual([1, 1, 1]);
    expect(world.evictions).toEqual([]);
  });

  test('for more memory does no less CPU any harm', async () => {
    const world = await startSizedWorld();
    await deployRestarting(world, 3, { requests: { cpu: '500m', memory: '64Mi' } });
    await createPolicy(world, { mode: 'Auto', updates: { allowRecreate: true } });
    await world.until('all have more memory', () => all(world, '120Mi'), 20 * MINUTE);
    await world.clock.advance(5 * MINUTE);
    expect(await restartsOf(world)).toEqual([1, 1, 1]);
    expect((await sizedEvents(world)).map(({ reason }) => reason)).not.toContain('ChangeReverted');
    expect((await requestsOf(world)).map(({ cpu }) => cpu)).toEqual(['240m', '240m', '240m']);
  });

  test('leaves the only replica alone, and says why', async () => {
    const world = await startSizedWorld();
    await deployRestarting(world, 1);
    await createPolicy(world, { mode: 'Auto', updates: { allowRecreate: true } });
    await untilReason(world, 'SingleReplica');
    await world.clock.advance(5 * MINUTE);
    expect(await restartsOf(world)).toEqual([0]);
    // CPU needs no restart.
    expect(await requestsOf(world)).toEqual([{ cpu: '240m', memory: '512Mi' }]);
  });

  test('is not made where the policy does not allow it, and what needs none is', async () => {
    const world = await startSizedWorld();
    await deployRestarting(world, 3);
    await createPolicy(world, { mode: 'Auto' });
    await world.clock.advance(5 * MINUTE);
    expect(await restartsOf(world)).toEqual([0, 0, 0]);
    const sizes = { cpu: '240m', memory: '512Mi' };
    expect(await requestsOf(world)).toEqual([sizes, sizes, sizes]);
    expect(await statusOf(world)).toMatchObject({ status: 'Skipped', reason: 'ResizeRestarts' });
  });
});

describe('evictions for a size', () => {
  test('leave the on-demand floor, and its pods are sized once it allows it', async () => {
    const world = await startSizedWorld();
    const placed = {
      labels: { 'spotalis.io/enabled': 'true' },
      annotations: { 'spotalis.io/spot-percentage': '50', 'spotalis.io/min-on-demand': '2' },
    };
    await deployLoaded(world, { replicas: 4, ...placed });
    await untilReady(world, 'web', 4);
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await untilReason(world, 'OnDemandFloor', 20 * MINUTE);
    expect((await requestsOf(world)).filter(({ memory }) => memory === '120Mi')).toHaveLength(2);
    expect(world.evictions).toHaveLength(2);
    expect((await statusOf(world))?.message).toMatch(
      /on-demand floor: without it 1 replica is ready on on-demand, and 2 /,
    );
    const body = { metadata: { annotations: { 'spotalis.io/min-on-demand': '1' } } };
    await world.api.patch(resources.deployments, 'web', { type: 'merge', body }, inShop);
    await world.until('all are resized', () => all(world, '120Mi'), 20 * MINUTE);
    expect(world.evictions).toHaveLength(4);
  });

  test('small steps wait for each other, and one too small is not made at all', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 2, cpu: '500m' });
    await untilReady(world, 'web', 2);
    await createPolicy(world, {
      mode: 'Auto',
      metrics: { safetyFactor: 1 },
      updates: { ...evicting, cooldown: '1m', maxStep: { down: '20%' }, minChange: '0%' },
    });
    await world.clock.advance(150 * MINUTE);
    // At once, after an hour, and after two.
    expect(world.evictions.length).toBeLessThanOrEqual(6);
    expect(world.evictions.length).toBeGreaterThanOrEqual(4);
    await untilReason(world, 'RestartCooldown');
  });

  test.each([
    ['by eviction', evicting],
    ['by a new template', { ...evicting, evictToResize: false }],
  ])('%s: CPU and memory are lowered together, though the history of one begins later', async (_, updates) => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 2 });
    await untilReady(world, 'web', 2);
    const before = new Set((await sizedPods(world)).map(({ metadata }) => metadata?.uid));
    // What CPU does in the first five minutes counts for nothing.
    const metrics = { minHistory: '10m', startupExclusion: '5m' };
    await createPolicy(world, { mode: 'Auto', updates, metrics });
    await untilReason(world, 'RestartTogether', 15 * MINUTE);
    expect((await statusOf(world))?.message).toMatch(/; CPU of container app may be lowered in [45]m/);
    expect((await sizedPods(world)).every(({ metadata }) => before.has(metadata?.uid))).toBe(true);
    await world.until('memory is lowered', () => all(world, '120Mi'), 10 * MINUTE);
    expect(new Set((await requestsOf(world)).map(({ cpu }) => cpu))).toEqual(new Set(['240m']));
    const after = new Set((await sizedPods(world)).map(({ metadata }) => metadata?.uid));
    await world.clock.advance(10 * MINUTE);
    expect(new Set((await sizedPods(world)).map(({ metadata }) => metadata?.uid))).toEqual(after);
  });

  test('in place nothing waits for its company', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 2 });
    await untilReady(world, 'web', 2);
    const metrics = { minHistory: '10m', startupExclusion: '5m' };
    await createPolicy(world, { mode: 'Auto', metrics, updates: { cooldown: '1h' } });
    await world.until('memory is lowered', () => all(world, '120Mi'), 15 * MINUTE);
    const cpus = async () => new Set((await requestsOf(world)).map(({ cpu }) => cpu));
    expect(await cpus()).toEqual(new Set(['500m']));
    // Nor is the pause after one a pause of the other.
    await world.clock.advance(10 * MINUTE);
    expect(await cpus()).toEqual(new Set(['240m']));
  });

  test('less by a little is told, and restarts nobody', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 2, requests: { cpu: '280m', memory: '130Mi' } });
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto', updates: { ...evicting, minChange: '0%' } });
    await untilReason(world, 'TooLittleToRestart');
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect((await statusOf(world))?.message).toMatch(/14 % less is too little .* 20 % is enough/);
  });

  test('that bring the old size back stop for every workload', async () => {
    const world = await startSizedWorld({ config: 'placement: { maxConcurrentEvictions: 1 }' });
    const names = ['web', 'api', 'jobs', 'mail'];
    for (const name of names) await deployLoaded(world, { name, replicas: 2 });
    for (const name of names) await untilReady(world, name, 2);
    world.setWebhookUp(false);
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await world.clock.advance(30 * MINUTE);
    // With a pause that doubles: not three for each of them.
    expect(world.evictions.length).toBeLessThanOrEqual(6);
    const reasons = await Promise.all(names.map(async (name) => (await statusOf(world, name))?.reason));
    expect(reasons).toContain('NewPodsMissSize');
    world.setWebhookUp(true);
    await world.until(
      'all are resized',
      async () => (await Promise.all(names.map((name) => all(world, '120Mi', name)))).every(Boolean),
      180 * MINUTE,
    );
  });
});

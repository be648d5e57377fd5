/** What is watched survives the leader: the next one goes on watching, and takes back what did harm. */
import { describe, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  createPolicy,
  deployLoaded,
  loadedDeployment,
  requestsOf,
  type SizedWorldOptions,
  sizedEvents,
  sizedPods,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

const LONG = '  revertWindow: 30m';
const limits = { cpu: '1', memory: '512Mi' };
const annotationsOf = async (world: EmbeddedWorld): Promise<Readonly<Record<string, string>>> =>
  (await world.api.get(resources.deployments, 'web', inShop)).metadata?.annotations ?? {};
const watchedIn = async (world: EmbeddedWorld): Promise<unknown> => {
  const text = (await annotationsOf(world))['optipod.io/watched-changes'];
  return text === undefined ? undefined : JSON.parse(text);
};
const isSmall = ({ memory }: Readonly<Record<string, string>>): boolean => memory === '120Mi';
const isBack = ({ memory = '' }: Readonly<Record<string, string>>): boolean => Number.parseInt(memory, 10) >= 512;
const hasReverted = async (world: EmbeddedWorld): Promise<boolean> =>
  (await sizedEvents(world)).some(({ reason }) => reason === 'ChangeReverted');

/**
 * A world with two replicas; the first leads, and its policy has made all pods smaller in this way.
 * @param prepare what happens to pods before that.
 */
async function startShrunk(
  updates: Record<string, unknown>,
  replicas = 3,
  options: SizedWorldOptions = {},
  prepare: (world: EmbeddedWorld) => Promise<void> = async () => {},
): Promise<EmbeddedWorld> {
  const world = await startSizedWorld({ rightsizing: LONG, ...options });
  await deployLoaded(world, { replicas, limits });
  await untilReady(world, 'web', replicas);
  await prepare(world);
  // From now on this one is asked at admission; the first has been, and so knows that pods are.
  await world.startOperator('test_2');
  await createPolicy(world, { mode: 'Auto', updates: { updateRequestsOnly: false, ...updates } });
  return world;
}

/** More memory than the new limit: containers are killed. */
async function overload(world: EmbeddedWorld, isIt = isSmall): Promise<void> {
  for (const { metadata, spec } of await sizedPods(world)) {
    if (!isIt({ ...spec?.containers[0]?.resources?.requests })) continue;
    const body = { metadata: { annotations: { 'stowage.test/memory': 'step(100Mi, 300Mi, 30s)' } } };
    await world.api.patch(resources.pods, metadata?.name ?? '', { type: 'merge', body }, inShop);
  }
}

const evicting = { allowInPlaceResize: false, allowRecreate: true, evictToResize: true };
const rolling = { allowInPlaceResize: false, allowRecreate: true };

describe('the next leader', () => {
  test.each([
    ['in place', {}],
    ['by eviction', evicting],
    ['by a new template', rolling],
  ] as const)('takes back a decrease made %s by the last one', async (_, updates) => {
    const world = await startShrunk(updates);
    await world.until('all have less', async () => (await requestsOf(world)).every(isSmall), 10 * MINUTE);
    await untilReady(world, 'web', 3);
    expect(await watchedIn(world)).toMatchObject({
      changes: [{ phase: 'spread', sizes: { app: { memoryRequest: [512 * 2 ** 20, 120 * 2 ** 20] } } }],
    });
    world.cutOff('test_1');
    // Killed while nobody leads.
    await overload(world);
    await world.until('taken back', () => hasReverted(world), 5 * MINUTE);
    await world.until('all have what they had', async () => (await requestsOf(world)).every(isBack), 10 * MINUTE);
    expect((await sizedEvents(world)).filter(({ reason }) => reason === 'ChangeReverted')).toHaveLength(1);
    const learned = JSON.parse((await annotationsOf(world))['optipod.io/learned-floors'] ?? '{}');
    expect(learned).toMatchObject({ floors: [['app', 'memory', 512 * 2 ** 20, expect.any(Number)]], reverts: 1 });
  });

  test.each([
    ['ahead', 60 * MINUTE],
    ['behind', -60 * MINUTE],
  ])('puts no restart of before down to a decrease, with clocks of nodes an hour %s', async (_, nodesAheadMillis) => {
    const world = await startShrunk({}, 3, { nodesAheadMillis }, async (begun) => {
      for (const { metadata } of await sizedPods(begun))
        begun.cluster.kubelet.endContainer(`shop/${metadata?.name}`, 'app', 1);
      await begun.clock.advance(MINUTE);
      await untilReady(begun, 'web', 3);
    });
    await world.until('all have less', async () => (await requestsOf(world)).every(isSmall), 10 * MINUTE);
    world.cutOff('test_1');
    await world.clock.advance(5 * MINUTE);
    expect(await watchedIn(world)).toMatchObject({ changes: [{ phase: 'spread' }] });
    expect(await hasReverted(world)).toBe(false);
  });

  test('goes on watching the first pod, and the others never have what did it harm', async () => {
    const world = await startSizedWorld({ rightsizing: '  revertWindow: 30m\n  canaryPeriod: 3m' });
    await world.startOperator('test_2');
    await deployLoaded(world, { replicas: 3, limits });
    await untilReady(world, 'web', 3);
    await createPolicy(world, { mode: 'Auto', updates: { updateRequestsOnly: false } });
    await world.until('a first pod has less', async () => (await requestsOf(world)).some(isSmall));
    await world.until('kept', async () => (await watchedIn(world)) !== undefined);
    world.cutOff('test_1');
    await overload(world);
    let most = 0;
    await world.until(
      'taken back',
      async () => {
        most = Math.max(most, (await requestsOf(world)).filter(isSmall).length);
        return hasReverted(world);
      },
      5 * MINUTE,
    );
    await world.until('it has what it had', async () => (await requestsOf(world)).every(isBack));
    expect(most).toBe(1);
  });

  test('is told nothing of what is behind: the annotation is gone once the watch is over, and nothing is written again', async () => {
    const world = await startSizedWorld();
    await world.startOperator('test_2');
    await deployLoaded(world, { replicas: 2 });
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto' });
    await world.until('all have less', async () => (await requestsOf(world)).every(isSmall));
    expect(await watchedIn(world)).toBeDefined();
    await world.until('no longer watched', async () => (await watchedIn(world)) === undefined, 5 * MINUTE);
    expect((await statusOf(world))?.status).toBe('Applied');
    const writes = world.operatorWrites.filter((write) => write.endsWith('deployments')).length;
    // Of a whole decrease: the advice, the first pod, the others, the end.
    expect(writes).toBeLessThanOrEqual(4);
    world.cutOff('test_1');
    await world.clock.advance(10 * MINUTE);
    expect(world.operatorWrites.filter((write) => write.endsWith('deployments'))).toHaveLength(writes);
  });

  test('counts a restart in place that the last one began, and disrupts nothing else until it is over', async () => {
    const world = await startSizedWorld({ resizeMillis: 100_000, config: 'placement: { maxConcurrentEvictions: 1 }' });
    await world.startOperator('test_2');
    for (const name of ['web', 'api']) {
      const workload = loadedDeployment({ name });
      const [app] = workload.spec?.template?.spec?.containers ?? [];
      Object.assign(app ?? {}, { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] });
      await world.api.create(resources.deployments, workload, inShop);
      await untilReady(world, name, 2);
    }
    const underWay = async (): Promise<string[]> =>
      (await Promise.all(['web', 'api'].map((name) => sizedPods(world, name)))).flat().flatMap((pod) => {
        const asked = pod.spec?.containers[0]?.resources?.requests?.['memory'];
        const actual = pod.status?.containerStatuses?.[0]?.resources?.requests?.['memory'];
        return asked === actual ? [] : [pod.metadata?.name ?? ''];
      });
    await createPolicy(world, { mode: 'Auto', updates: { allowRecreate: true } });
    await world.until('a first restart is under way', async () => (await underWay()).length > 0);
    const [first] = await underWay();
    world.cutOff('test_1');
    await world.until('that restart is over', async () => {
      const now = await underWay();
      expect(now.length).toBeLessThanOrEqual(1);
      return now[0] !== first;
    });
    await world.until('others follow', async () => (await underWay()).length > 0, 5 * MINUTE);
  });

  test('leaves alone what somebody else put in force meanwhile', async () => {
    const world = await startShrunk({}, 2);
    await world.until('all have less', async () => (await requestsOf(world)).every(isSmall));
    world.cutOff('test_1');
    const resized = { name: 'app', resources: { requests: { cpu: '300m', memory: '200Mi' }, limits } };
    const body = { spec: { template: { spec: { containers: [resized] } } } };
    await world.api.patch(resources.deployments, 'web', { type: 'strategic', body }, inShop);
    await world.clock.advance(3 * MINUTE);
    expect(await hasReverted(world)).toBe(false);
  });

  test('of an earlier version leaves alone what a later one keeps on the workload, and says so', async () => {
    const world = await startSizedWorld();
    const kept = {
      'optipod.io/applied-sizes': '{"v":2,"containers":{"app":{"cpu":"300m"}}}',
      'optipod.io/learned-floors': '{"v":2}',
      'optipod.io/watched-changes': '{"v":2,"since":"2026-11-29T02:00:00Z"}',
    };
    // Where no policy selects the workload, they are taken away as all of ours are.
    await createPolicy(world, { mode: 'Auto' });
    await deployLoaded(world, { annotations: kept });
    await untilReady(world, 'web', 2);
    await world.until('told', async () => (await statusOf(world))?.reason === 'NewerFormat');
    await world.clock.advance(5 * MINUTE);
    expect(await annotationsOf(world)).toMatchObject(kept);
    expect(new Set((await requestsOf(world)).map(({ memory }) => memory))).toEqual(new Set(['512Mi']));
    expect((await statusOf(world))?.message).toContain('optipod.io/applied-sizes');
  });
});

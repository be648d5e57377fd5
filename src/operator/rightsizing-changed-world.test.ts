/** A decision of a while ago in a world that has changed since: what is carried out is what is wanted now. */
import { describe, expect, test } from 'vitest';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  cpuAutoscaler,
  createPolicy,
  deployLoaded,
  loadedDeployment,
  requestsOf,
  sizedEvents,
  sizedPods,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { annotate, inShop, MINUTE, untilReady } from './testing/steps.ts';

const LONG = '  revertWindow: 30m\n  canaryPeriod: 3m';
const all = async (world: EmbeddedWorld, resource: string, value: string): Promise<boolean> =>
  (await requestsOf(world)).every((requests) => requests[resource] === value);
const setMode = (world: EmbeddedWorld, mode: string) =>
  world.api.patch(policyType('optipod.io'), 'sizes', { type: 'merge', body: { spec: { mode } } }, inShop);
const setTemplate = (world: EmbeddedWorld, template: object) =>
  world.api.patch(resources.deployments, 'web', { type: 'strategic', body: { spec: { template } } }, inShop);
const annotationOf = async (world: EmbeddedWorld, key: string): Promise<string | undefined> =>
  (await world.api.get(resources.deployments, 'web', inShop)).metadata?.annotations?.[key];
const resizes = (world: EmbeddedWorld): number => world.operatorWrites.filter((write) => write === 'patch pods').length;

/** How both pods are given less. */
const ways: [string, object][] = [
  ['in place', {}],
  ['by a new template', { allowInPlaceResize: false, allowRecreate: true }],
];
/** With two pods that have been given less, which is watched. */
async function startWithLess(updates: object): Promise<EmbeddedWorld> {
  const world = await startSizedWorld({ rightsizing: LONG });
  await deployLoaded(world, { replicas: 2 });
  await untilReady(world, 'web', 2);
  await createPolicy(world, { mode: 'Auto', updates: { ...updates, cooldown: '6h' } });
  await world.until('all have less', () => all(world, 'memory', '120Mi'), 10 * MINUTE);
  await untilReady(world, 'web', 2);
  return world;
}

describe('somebody writes other sizes into the template', () => {
  const byHand = { spec: { containers: [{ name: 'app', resources: { requests: { cpu: '700m', memory: '1Gi' } } }] } };

  test.each(ways)('while a decrease made %s is watched: his sizes stay', async (_, updates) => {
    const world = await startWithLess(updates);
    await setTemplate(world, byHand);
    await world.until('all have his', () => all(world, 'memory', '1Gi'), 5 * MINUTE);
    await world.clock.advance(2 * MINUTE);
    expect(await requestsOf(world)).toEqual(Array(2).fill({ cpu: '700m', memory: '1Gi' }));
    expect(await annotationOf(world, 'optipod.io/watched-changes')).toBeUndefined();
  });

  test('while the first pod with less is watched: the others never have it', async () => {
    const world = await startSizedWorld({ rightsizing: LONG });
    await deployLoaded(world, { replicas: 3 });
    await untilReady(world, 'web', 3);
    await createPolicy(world, { mode: 'Auto', updates: { cooldown: '6h' } });
    await world.until('a first pod has less', async () =>
      (await requestsOf(world)).some(({ memory }) => memory === '120Mi'),
    );
    // A rollout that does not come to its end: the pods of the old template go on.
    await world.api.patch(resources.deployments, 'web', { type: 'merge', body: { spec: { paused: true } } }, inShop);
    await setTemplate(world, byHand);
    await world.clock.advance(5 * MINUTE);
    expect((await requestsOf(world)).filter(({ memory }) => memory === '120Mi').length).toBeLessThan(2);
    expect(await annotationOf(world, 'optipod.io/applied-sizes')).toBeUndefined();
  });
});

describe('a pipeline that replaces the object, and all that is kept on it', () => {
  async function sized() {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 2 });
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto' });
    await world.until('all have less', () => all(world, 'memory', '120Mi'), 10 * MINUTE);
    await world.clock.advance(10 * MINUTE);
    const replace = async (): Promise<void> => {
      const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
      const ours = Object.keys(metadata?.annotations ?? {}).filter((key) => key.startsWith('optipod.io/'));
      const annotations = Object.fromEntries(ours.map((key) => [key, null]));
      await world.api.patch(
        resources.deployments,
        'web',
        { type: 'merge', body: { metadata: { annotations } } },
        inShop,
      );
    };
    return { world, replace, applied: await annotationOf(world, 'optipod.io/applied-sizes'), before: resizes(world) };
  }

  test('costs no pod its size: it is put back', async () => {
    const { world, replace, applied, before } = await sized();
    for (let round = 0; round < 3; round++) {
      await replace();
      await world.clock.advance(2 * MINUTE);
      expect(await annotationOf(world, 'optipod.io/applied-sizes')).toBe(applied);
    }
    expect(await all(world, 'memory', '120Mi')).toBe(true);
    expect(resizes(world)).toBe(before);
  });

  test('is put back also where the first write fails: no other goes before it', async () => {
    const { world, replace, applied, before } = await sized();
    await replace();
    const effect = { kind: 'status', code: 409 } as const;
    world.server.faults.add({ verbs: ['patch'], resources: ['deployments'], effect, count: 1 });
    await world.clock.advance(2 * MINUTE);
    expect(await annotationOf(world, 'optipod.io/applied-sizes')).toBe(applied);
    expect(await all(world, 'memory', '120Mi')).toBe(true);
    expect(resizes(world)).toBe(before);
  });
});

test('an autoscaler that comes while the first pod is watched keeps the others from its CPU', async () => {
  const world = await startSizedWorld({ rightsizing: LONG });
  await deployLoaded(world, { replicas: 3 });
  await untilReady(world, 'web', 3);
  await createPolicy(world, { mode: 'Auto' });
  await world.until('a first pod has less', async () => (await requestsOf(world)).some(({ cpu }) => cpu === '240m'));
  await world.api.create(resources.horizontalPodAutoscalers, cpuAutoscaler(3, 4), inShop);
  await world.until('all have less memory', () => all(world, 'memory', '120Mi'), 10 * MINUTE);
  expect(await all(world, 'cpu', '500m')).toBe(true);
});

test('the window closes while the first pod is watched: the others wait for the next one, new ones too', async () => {
  const world = await startSizedWorld({ rightsizing: '  canaryPeriod: 6m' });
  await deployLoaded(world, { replicas: 2 });
  await untilReady(world, 'web', 2);
  // The world begins at noon.
  const schedule = [{ cron: '0,20 12 * * *', duration: '5m' }];
  await createPolicy(world, { mode: 'Auto', updates: { schedule } });
  await world.until('a first pod has less', async () => (await requestsOf(world)).some(({ cpu }) => cpu === '240m'));
  await world.until('told', async () => (await statusOf(world))?.reason === 'OutsideUpdateWindow', 10 * MINUTE);
  expect(await annotationOf(world, 'optipod.io/applied-sizes')).toBeUndefined();
  expect(world.clock.now() % (60 * MINUTE)).toBeLessThan(20 * MINUTE);
  await world.until('all have less', () => all(world, 'cpu', '240m'), 20 * MINUTE);
});

test.each(ways)(
  'a release whose pods restart while they come is not put down to a decrease made %s before',
  async (_, updates) => {
    const world = await startWithLess(updates);
    await world.clock.advance(MINUTE);
    await setTemplate(world, { metadata: { annotations: { version: '2', 'stowage.test/ready-after': '20s' } } });
    const ended = new Set<string>();
    await world.until(
      'it is out, and each of its pods has restarted once',
      async () => {
        const pods = await sizedPods(world);
        const released = pods.filter(({ metadata }) => metadata?.annotations?.['version'] === '2');
        for (const { metadata, status } of released) {
          const name = metadata?.name ?? '';
          if (ended.has(name) || status?.containerStatuses?.[0]?.state?.running === undefined) continue;
          ended.add(name);
          world.cluster.kubelet.endContainer(`shop/${name}`, 'app', 1);
        }
        const isOut = ({ status }: (typeof pods)[number]): boolean => {
          const [app] = status?.containerStatuses ?? [];
          return app?.ready === true && app.restartCount > 0;
        };
        return pods.length === 2 && released.length === 2 && released.every(isOut);
      },
      10 * MINUTE,
    );
    await world.clock.advance(10 * MINUTE);
    expect((await sizedEvents(world)).map(({ reason }) => reason)).not.toContain('ChangeReverted');
    expect(await all(world, 'memory', '120Mi')).toBe(true);
    expect(await annotationOf(world, 'optipod.io/watched-changes')).toBeDefined();
  },
);

describe('nothing was applied for a while', () => {
  test('sizes that no pod has any more are not brought back', async () => {
    const world = await startSizedWorld({ rightsizing: '  sampleInterval: 30s', metricsEveryMillis: 30_000 });
    await deployLoaded(world, { replicas: 2, cpu: '400m', memory: 'step(100Mi, 410Mi, 20m)' });
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto', spec: { reconciliationInterval: '10m' } });
    await world.until('all have less', () => all(world, 'memory', '120Mi'), 5 * MINUTE);
    await setMode(world, 'Recommend');
    // All pods are made anew, with what the template says.
    await setTemplate(world, { metadata: { annotations: { restarted: 'yes' } } });
    await world.until('all are of the template', () => all(world, 'memory', '512Mi'), 5 * MINUTE);
    await world.clock.advance(70 * MINUTE);
    const before = resizes(world);
    await setMode(world, 'Auto');
    await world.until('it is applied again', async () => {
      return (await annotationOf(world, 'optipod.io/applied-sizes')) === undefined;
    });
    await world.clock.advance(2 * MINUTE);
    expect(await all(world, 'memory', '512Mi')).toBe(true);
    expect(resizes(world)).toBe(before);
  });

  test('what happened meanwhile is not put down to what was changed before', async () => {
    const world = await startSizedWorld({ rightsizing: '  revertWindow: 2m' });
    const web = loadedDeployment({ replicas: 1 });
    Object.assign(web.spec?.template?.metadata?.annotations ?? {}, { 'stowage.test/crash-after': '10m' });
    await world.api.create(resources.deployments, web, inShop);
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode: 'Auto', updates: { cooldown: '6h' } });
    await world.until('less', () => all(world, 'memory', '120Mi'));
    await annotate(world, { 'optipod.io/paused': 'true' });
    await world.until(
      'it restarted',
      async () =>
        (await sizedPods(world)).some(({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0),
      15 * MINUTE,
    );
    await annotate(world, { 'optipod.io/paused': null });
    await world.clock.advance(MINUTE);
    expect((await sizedEvents(world)).map(({ reason }) => reason)).not.toContain('ChangeReverted');
    expect(await all(world, 'memory', '120Mi')).toBe(true);
  });
});

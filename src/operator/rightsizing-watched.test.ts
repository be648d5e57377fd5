/** Changes while an earlier one is still watched: more is given at once, and only what is to blame is taken back. */
import { describe, expect, test } from 'vitest';
import { policyType } from '../api/optimization-policy.ts';
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

const LONG = '  revertWindow: 30m\n  canaryPeriod: 3m';
const loadAll = async (world: EmbeddedWorld, annotations: Record<string, string>): Promise<void> => {
  for (const { metadata } of await sizedPods(world)) {
    const body = { metadata: { annotations } };
    await world.api.patch(resources.pods, metadata?.name ?? '', { type: 'merge', body }, inShop);
  }
};
const all = async (world: EmbeddedWorld, resource: string, value: string): Promise<boolean> =>
  (await requestsOf(world)).every((requests) => requests[resource] === value);
const reasons = async (world: EmbeddedWorld): Promise<string[]> =>
  (await sizedEvents(world)).flatMap(({ reason }) => reason ?? []);
const max = { strategy: 'Max', rollingWindow: '30m' };

describe('while a decrease is watched', () => {
  test('more of the very same is given at once', async () => {
    const world = await startSizedWorld({ rightsizing: LONG });
    await deployLoaded(world, { replicas: 1 });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode: 'Auto', metrics: max, updates: { cooldown: '0s' } });
    await world.until('less', () => all(world, 'cpu', '240m'));
    await loadAll(world, { 'stowage.test/cpu': '700m', 'stowage.test/memory': '900Mi' });
    await world.until(
      'more',
      async () => (await all(world, 'cpu', '840m')) && all(world, 'memory', '1080Mi'),
      2 * MINUTE,
    );
    expect(await reasons(world)).not.toContain('ChangeReverted');
  });

  test('more is given to all pods at once while the first pod with less is watched', async () => {
    const world = await startSizedWorld({ rightsizing: LONG });
    await deployLoaded(world, { replicas: 3, requests: { cpu: '500m', memory: '64Mi' } });
    await untilReady(world, 'web', 3);
    await createPolicy(world, { mode: 'Auto' });
    await world.until('more memory', () => all(world, 'memory', '120Mi'), MINUTE);
    expect((await requestsOf(world)).filter(({ cpu }) => cpu === '240m')).toHaveLength(1);
    await world.until('told', async () => (await statusOf(world))?.reason === 'CanaryWatched', 2_000);
    expect((await requestsOf(world)).filter(({ cpu }) => cpu === '240m')).toHaveLength(1);
    await world.until('less CPU, after the watch', () => all(world, 'cpu', '240m'), 5 * MINUTE);
  });

  test('less of another resource does not wait for it, and both are taken back for a restart', async () => {
    const world = await startSizedWorld({ rightsizing: LONG });
    const web = loadedDeployment({ replicas: 1 });
    Object.assign(web.spec?.template?.metadata?.annotations ?? {}, { 'stowage.test/crash-after': '10m' });
    await world.api.create(resources.deployments, web, inShop);
    await untilReady(world, 'web', 1);
    const bounds = (min: string) => ({ cpu: { min: '10m', max: '4' }, memory: { min, max: '8Gi' } });
    await createPolicy(world, { mode: 'Auto', bounds: bounds('512Mi'), updates: { cooldown: '0s' } });
    await world.until('less CPU', () => all(world, 'cpu', '240m'));
    const body = { spec: { resourceBounds: bounds('16Mi') } };
    await world.api.patch(policyType('optipod.io'), 'sizes', { type: 'merge', body }, inShop);
    await world.until('less memory', () => all(world, 'memory', '120Mi'), 2 * MINUTE);
    await world.until('told', async () => (await reasons(world)).includes('ChangeReverted'), 15 * MINUTE);
    await world.until(
      'both are back',
      async () => (await all(world, 'cpu', '500m')) && all(world, 'memory', '512Mi'),
      MINUTE,
    );
    expect((await reasons(world)).filter((reason) => reason === 'ChangeReverted')).toHaveLength(1);
  });

  test('only what is to blame is taken back, whatever the window', async () => {
    const world = await startSizedWorld({ rightsizing: LONG });
    await deployLoaded(world, { replicas: 1, limits: { cpu: '1', memory: '512Mi' } });
    await untilReady(world, 'web', 1);
    // Open from noon, when the world begins.
    const open = { schedule: [{ cron: '0 12 * * *', duration: '5m' }] };
    await createPolicy(world, {
      mode: 'Auto',
      updates: { updateRequestsOnly: false, limitConfig: { cpuLimitMultiplier: 2 }, ...open },
    });
    await world.until('less of both', async () => (await all(world, 'cpu', '240m')) && all(world, 'memory', '120Mi'));
    await world.clock.advance(6 * MINUTE);
    await loadAll(world, { 'stowage.test/memory': 'step(100Mi, 300Mi, 30s)' });
    await world.until('told', async () => (await reasons(world)).includes('ChangeReverted'), 10 * MINUTE);
    await world.until('memory is back', async () =>
      (await requestsOf(world)).every(({ memory }) => Number.parseInt(memory ?? '0', 10) >= 512),
    );
    expect(await all(world, 'cpu', '240m')).toBe(true);
    const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
    expect(metadata?.annotations?.['optipod.io/learned-floors']).not.toContain('"cpu"');
  });
});

test.each([
  ['in place', {}],
  ['by eviction', { allowInPlaceResize: false, allowRecreate: true, evictToResize: true }],
])('less %s is watched also where the answer to what put it in force was lost', async (_, updates) => {
  const world = await startSizedWorld({ rightsizing: LONG });
  await deployLoaded(world, { replicas: 2 });
  await untilReady(world, 'web', 2);
  const effect = { kind: 'drop-after' } as const;
  const fault = world.server.faults.add({ verbs: ['patch'], resources: ['deployments'], effect });
  await createPolicy(world, { mode: 'Auto', updates: { ...updates, cooldown: '6h' } });
  const annotationOf = async (key: string): Promise<string | undefined> =>
    (await world.api.get(resources.deployments, 'web', inShop)).metadata?.annotations?.[key];
  const isInForce = async () => (await annotationOf('optipod.io/applied-sizes')) !== undefined;
  await world.until('it is in force', isInForce, 10 * MINUTE);
  await world.clock.advance(MINUTE);
  fault.remove();
  await world.until('all have it', () => all(world, 'cpu', '240m'), 10 * MINUTE);
  expect(await annotationOf('optipod.io/watched-changes')).toContain('cpuRequest');
});

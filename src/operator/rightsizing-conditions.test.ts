/** What the conditions of a policy say while it runs beside others. */
import { describe, expect, test } from 'vitest';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import { createMetrics } from '../lib/metrics.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  conditionOf,
  createPolicy,
  deployLoaded,
  readPolicy,
  requestsOf,
  sizedEvents,
  sizedPods,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

test('a policy whose workloads another one sizes lacks no usage, and is in force for none', async () => {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world, { name: 'winner', spec: { weight: 200 } });
  await createPolicy(world, { name: 'loser', spec: { weight: 1 } });
  await world.until(
    'advised',
    async () => (await statusOf(world, 'web', { name: 'winner' }))?.status === 'Recommended',
  );
  await world.clock.advance(MINUTE);
  expect((await readPolicy(world, { name: 'loser' })).status?.workloadsDiscovered).toBe(1);
  expect(await conditionOf(world, 'loser', 'MetricsAvailable')).toMatchObject({ status: 'True', reason: 'UsageKnown' });
  expect((await conditionOf(world, 'loser', 'Ready'))?.message).toContain('0 workloads');
  expect((await conditionOf(world, 'winner', 'Ready'))?.message).toContain('1 workload');
});

test('a workload that has just begun is no reason to doubt the source of usage', async () => {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world);
  await world.until('advised', async () => (await statusOf(world))?.status === 'Recommended');
  const before = await conditionOf(world, 'sizes', 'MetricsAvailable');
  expect(before).toMatchObject({ status: 'True' });
  await deployLoaded(world, { name: 'late', replicas: 1 });
  await world.until('listed', async () => (await statusOf(world, 'late')) !== undefined);
  for (let second = 0; second < 20; second++) {
    await world.clock.advance(1_000);
    expect(await conditionOf(world, 'sizes', 'MetricsAvailable')).toMatchObject({ status: 'True' });
  }
  await world.until('advised, too', async () => (await statusOf(world, 'late'))?.status === 'Recommended', MINUTE);
});

test('errors are counted by what went wrong, as OptiPod names it', async () => {
  const metrics = createMetrics();
  const world = await startSizedWorld({ metrics });
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world);
  const matchExpressions = [{ key: 'app', operator: 'Is' }];
  await createPolicy(world, { name: 'wrong', spec: { selector: { workloadSelector: { matchExpressions } } } });
  const count = async (policy: string, type: string): Promise<number> => {
    const [, value] =
      new RegExp(`_errors_total{policy="${policy}",error_type="${type}"} (\\d+)`).exec(await metrics.render()) ?? [];
    return Number(value ?? 0);
  };
  await world.until('told of the policy that is not valid', async () => (await count('wrong', 'validation_error')) > 0);
  await world.until('advised', async () => (await statusOf(world))?.status === 'Recommended');
  expect([await count('sizes', 'discovery_error'), await count('sizes', 'fetch_error')]).toEqual([0, 0]);
  const verbs = ['list', 'watch'];
  for (const [resource, type] of [
    ['replicasets', 'discovery_error'],
    ['optimizationpolicies', 'fetch_error'],
  ] as const) {
    const fault = world.server.faults.add({ verbs, resources: [resource], effect: { kind: 'outage' } });
    await world.until(type, async () => (await count('sizes', type)) > 0);
    fault.remove();
    await world.until('all is known again', async () => {
      const before = await count('sizes', type);
      await world.clock.advance(20_000);
      return (await count('sizes', type)) === before;
    });
  }
});

test('a policy that reaches less than it seems to says so, also where no webhook was asked', async () => {
  const world = await startSizedWorld();
  await createPolicy(world, {
    spec: { selector: { namespaceSelector: { matchLabels: { environment: 'production' } } } },
  });
  await world.until('looked at', async () => (await conditionOf(world, 'sizes', 'Ready')) !== undefined);
  expect(await conditionOf(world, 'sizes', 'Ready')).toMatchObject({
    status: 'True',
    message: expect.stringMatching(/0 workloads; selector\.namespaceSelector is asked of namespace shop alone/),
  });
});

test('of two policies of one weight over one workload both say so, until one has another', async () => {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 1 });
  await createPolicy(world, { name: 'first' });
  await createPolicy(world, { name: 'second' });
  const ready = async (name: string) => (await conditionOf(world, name, 'Ready'))?.message ?? '';
  for (const [name, rival] of [
    ['first', 'second'],
    ['second', 'first'],
  ] as const) {
    await world.until(`${name} says so`, async () =>
      (await ready(name)).includes(`that of policy shop/${rival} too, and both select Deployment shop/web`),
    );
  }
  const body = { spec: { weight: 101 } };
  await world.api.patch(policyType('optipod.io'), 'second', { type: 'merge', body }, inShop);
  await world.until('neither says so', async () =>
    [await ready('first'), await ready('second')].every((message) => message !== '' && !message.includes('weight')),
  );
});

test('of two policies of one name the counts stay as long as one of them does', async () => {
  const metrics = createMetrics();
  const world = await startSizedWorld({ metrics });
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world);
  await createPolicy(world, { group: 'optipod.optipod.io' });
  await world.until('advised', async () => (await statusOf(world))?.status === 'Recommended');
  const isCounted = async () => (await metrics.render()).includes('optipod_recommendations_total{policy="sizes"}');
  await world.api.delete(policyType('optipod.optipod.io'), 'sizes', inShop);
  await world.clock.advance(5_000);
  expect(await isCounted()).toBe(true);
  await world.api.delete(policyType('optipod.io'), 'sizes', inShop);
  await world.until('gone', async () => !(await isCounted()), MINUTE);
});

test('advice that stays the same is advised anew, which its time shows within two hours', async () => {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world, { spec: { reconciliationInterval: '5m' } });
  await world.until('advised', async () => (await statusOf(world))?.status === 'Recommended');
  const timeOf = async () => Date.parse((await statusOf(world))?.lastRecommendation ?? '');
  const first = await timeOf();
  await world.clock.advance(121 * MINUTE);
  expect((await timeOf()) - first).toBeGreaterThan(59 * MINUTE);
});

describe('a source that fails while usage is remembered', () => {
  /** Of 600m a fifth more; or of as much as its bucket holds, where none of these samples is among those drawn by chance. */
  const MORE = /^7[24]\dm$/;
  // Of the metrics API alone: pods of the core group are followed by watches, and here read by name.
  const failing = { verbs: ['list'], resources: ['pods'], effect: { kind: 'status', code: 503 } } as const;

  /** A policy that advises more than the pod has, which waits for a cooldown, when the source begins to fail. */
  async function failed(mode: 'Auto' | 'Recommend') {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1, limits: { cpu: '2', memory: '1Gi' } });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode, metrics: { strategy: 'Max' }, updates: { cooldown: '10m' } });
    const first = mode === 'Auto' ? 'Applied' : 'Recommended';
    await world.until('sized', async () => (await statusOf(world))?.status === first);
    const [pod] = await sizedPods(world);
    const name = pod?.metadata?.name ?? '';
    const load = async (annotations: Readonly<Record<string, string>>): Promise<void> => {
      await world.api.patch(resources.pods, name, { type: 'merge', body: { metadata: { annotations } } }, inShop);
    };
    const requests = async () =>
      (await world.api.get(resources.pods, name, inShop)).spec?.containers[0]?.resources?.requests;
    await load({ 'stowage.test/cpu': '600m' });
    await world.until('more is advised', async () =>
      MORE.test((await statusOf(world))?.recommendations?.[0]?.cpu ?? ''),
    );
    const fault = world.server.faults.add(failing);
    return { world, fault, load, requests };
  }
  const told = async (world: EmbeddedWorld) =>
    (await sizedEvents(world)).filter(
      ({ regarding, reason }) => regarding?.kind === 'OptimizationPolicy' && reason === 'MetricsCollectionFailed',
    );

  test('nothing begins, status, condition and event say why, and it goes on when the source answers', async () => {
    const { world, fault, requests } = await failed('Auto');
    const before = await requests();
    await world.until('the pause is over', async () => (await statusOf(world))?.reason === 'UsageUnread', 30 * MINUTE);
    expect(await statusOf(world)).toMatchObject({
      status: 'Skipped',
      message: expect.stringContaining('does not answer'),
    });
    expect(await requests()).toEqual(before);
    expect(await conditionOf(world, 'sizes', 'MetricsAvailable')).toMatchObject({
      status: 'False',
      reason: 'MetricsCollectionFailed',
    });
    expect(await told(world)).toMatchObject([
      { type: 'Warning', note: expect.stringMatching(/does not answer.*Suggestion: /) },
    ]);
    fault.remove();
    await world.until('it is made', async () => MORE.test((await requests())?.['cpu'] ?? ''), 10 * MINUTE);
    await world.until(
      'all is well',
      async () => (await conditionOf(world, 'sizes', 'MetricsAvailable'))?.status === 'True',
    );
  });

  test.each([
    ['in place', {}],
    ['by eviction', { allowInPlaceResize: false, allowRecreate: true, evictToResize: true }],
  ])('a decrease %s that the first pod has goes no further', async (_, updates) => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 3 });
    await untilReady(world, 'web', 3);
    await createPolicy(world, { mode: 'Auto', updates });
    const reason = async () => (await statusOf(world))?.reason;
    await world.until('the first pod is watched', async () => (await reason()) === 'CanaryWatched');
    const fault = world.server.faults.add(failing);
    await world.clock.advance(5 * MINUTE);
    fault.remove();
    const cpu = (await requestsOf(world)).map((requests) => requests['cpu']);
    expect([cpu.filter((each) => each === '240m').length, cpu.length]).toEqual([1, 3]);
    await world.until(
      'all have it',
      async () => (await requestsOf(world)).every(({ cpu }) => cpu === '240m'),
      20 * MINUTE,
    );
  });

  test('a kill for want of memory is told by the pod, so that more is given all the same', async () => {
    const { world, load, requests } = await failed('Auto');
    await world.until('told', async () => (await told(world)).length > 0, 10 * MINUTE);
    await load({ 'stowage.test/memory': 'step(100Mi, 1500Mi, 5s)' });
    await world.until(
      'it has what its limit allows',
      async () => (await requests())?.['memory'] === '1Gi',
      20 * MINUTE,
    );
  });

  test('in Recommend the advice stays, and the policy says that it is not renewed', async () => {
    const { world } = await failed('Recommend');
    await world.until('told', async () => (await told(world)).length > 0, 10 * MINUTE);
    expect(await statusOf(world)).toMatchObject({
      status: 'Recommended',
      recommendations: [{ cpu: expect.stringMatching(MORE) }],
    });
  });
});

test('a provider that cannot be set up: the fallback is used, and condition and event say so', async () => {
  const world = await startSizedWorld({ rightsizing: '  provider: metrics-server' });
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world, { metrics: { provider: 'custom', custom: { name: 'nobody' } } });
  await world.until('advised', async () => (await statusOf(world))?.status === 'Recommended');
  await world.until(
    'told',
    async () => (await conditionOf(world, 'sizes', 'MetricsAvailable'))?.reason === 'UsageFromFallback',
  );
  expect(await conditionOf(world, 'sizes', 'MetricsAvailable')).toMatchObject({
    status: 'True',
    message: expect.stringMatching(/metrics-server.*nobody.*Suggestion: /),
  });
  const event = (await sizedEvents(world)).find(({ reason }) => reason === 'UsageFromFallback');
  expect(event).toMatchObject({ type: 'Warning', note: expect.stringContaining('nobody') });
});

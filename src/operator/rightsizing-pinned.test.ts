/** What OptiPod's own scripts and suites expect of it, scenario by scenario. */
import { describe, expect, test } from 'vitest';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import {
  createPolicy,
  deployLoaded,
  loadedDeployment,
  type PolicyFields,
  readPolicy,
  sizedPods,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, untilReady } from './testing/steps.ts';

const quantities = (min: [string, string], max: [string, string]) => ({
  cpu: { min: min[0], max: max[0] },
  memory: { min: min[1], max: max[1] },
});

describe('resource bounds', () => {
  test.each<[string, PolicyFields['bounds'], string, string, object]>([
    ['within', quantities(['100m', '128Mi'], ['1', '2Gi']), '300m', '300Mi', { cpu: '360m', memory: '360Mi' }],
    ['below-min', quantities(['200m', '256Mi'], ['1', '2Gi']), '20m', '20Mi', { cpu: '200m', memory: '256Mi' }],
    ['above-max', quantities(['100m', '128Mi'], ['800m', '1Gi']), '900m', '1Gi', { cpu: '800m', memory: '1Gi' }],
    ['boundary', quantities(['100m', '128Mi'], ['1500m', '3Gi']), '1250m', '2560Mi', { cpu: '1500m', memory: '3Gi' }],
  ])('optipod pinned: %s', async (_, bounds, cpu, memory, expected) => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1, cpu, memory, requests: { cpu: '500m', memory: '512Mi' } });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode: 'Recommend', ...(bounds !== undefined && { bounds }) });
    await world.until('advised', async () => (await statusOf(world))?.recommendations?.[0]?.cpu !== undefined);
    expect((await statusOf(world))?.recommendations?.[0]).toMatchObject(expected);
  });
});

describe('limits', () => {
  test.each<[string, object, object]>([
    ['default 1.0 and 1.1', {}, { cpu: '240m', memory: '132Mi' }],
    ['custom 1.5 and 2.0', { cpuLimitMultiplier: 1.5, memoryLimitMultiplier: 2 }, { cpu: '360m', memory: '240Mi' }],
  ])('optipod pinned: %s', async (_, limitConfig, expected) => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1, limits: { cpu: '800m', memory: '600Mi' } });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode: 'Auto', updates: { updateRequestsOnly: false, limitConfig } });
    await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
    const [pod] = await sizedPods(world);
    expect(pod?.spec?.containers[0]?.resources?.limits).toEqual(expected);
  });

  test('optipod pinned: requests only leaves them', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1, limits: { cpu: '600m', memory: '600Mi' } });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode: 'Auto' });
    await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
    const [pod] = await sizedPods(world);
    expect(pod?.spec?.containers[0]?.resources?.limits).toEqual({ cpu: '600m', memory: '600Mi' });
  });
});

describe('several policies', () => {
  test('optipod pinned: of weights 200, 100 and 50 the highest has the say, and all count the workload', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1 });
    await untilReady(world, 'web', 1);
    for (const [name, weight] of [
      ['low', 50],
      ['high', 200],
      ['default', 100],
    ] as const)
      await createPolicy(world, { name, mode: 'Auto', spec: { weight } });
    await world.until('applied', async () => (await statusOf(world, 'web', { name: 'high' }))?.status === 'Applied');
    const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
    expect(metadata?.annotations?.['optipod.io/policy']).toBe('high');
    for (const name of ['low', 'high', 'default'])
      expect((await readPolicy(world, { name })).status?.workloadsDiscovered).toBe(1);
    expect((await readPolicy(world, { name: 'low' })).status?.workloads ?? []).toEqual([]);
  });

  test('optipod pinned: a disabled policy of the highest weight shields its workloads', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1 });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { name: 'shield', mode: 'Disabled', spec: { weight: 900 } });
    await createPolicy(world, { name: 'other', mode: 'Auto' });
    await world.clock.advance(120_000);
    const [pod] = await sizedPods(world);
    expect(pod?.spec?.containers[0]?.resources?.requests).toEqual({ cpu: '500m', memory: '512Mi' });
    expect((await readPolicy(world, { name: 'other' })).status?.workloads ?? []).toEqual([]);
  });

  test('optipod pinned: both API groups work, each with its status where the object lives', async () => {
    const world = await startSizedWorld();
    const group = 'optipod.optipod.io';
    await deployLoaded(world, { replicas: 1 });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { group, mode: 'Auto' });
    await world.until('applied', async () => (await statusOf(world, 'web', { group }))?.status === 'Applied');
  });
});

test('optipod pinned: a policy that is switched from Recommend to Auto is carried out at once', async () => {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world, { mode: 'Recommend', spec: { reconciliationInterval: '1h' } });
  await world.until('advised', async () => (await statusOf(world))?.status === 'Recommended');
  await world.api.patch(policyType('optipod.io'), 'sizes', { type: 'merge', body: { spec: { mode: 'Auto' } } }, inShop);
  await world.until('applied', async () => (await statusOf(world))?.lastApplied !== undefined, 10_000);
});

test('optipod pinned: workload types of a policy are Deployment, StatefulSet and DaemonSet', async () => {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 1 });
  const { metadata, spec } = loadedDeployment({ name: 'db', replicas: 1 });
  const template = spec?.template;
  const selector = { matchLabels: { app: 'db' } };
  if (metadata === undefined || template === undefined) throw new Error('no template');
  await world.api.create(
    resources.statefulSets,
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata,
      spec: { replicas: 1, serviceName: 'db', selector, template },
    },
    inShop,
  );
  const agent = { ...metadata, name: 'agent' };
  await world.api.create(
    resources.daemonSets,
    { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: agent, spec: { selector, template } },
    inShop,
  );
  await createPolicy(world);
  await world.until('all found', async () => (await readPolicy(world)).status?.workloadsDiscovered === 3);
  expect((await readPolicy(world)).status?.workloadsByType).toEqual({ deployments: 1, statefulSets: 1, daemonSets: 1 });
});

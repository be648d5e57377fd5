/** How changes go: taken back where they do harm, given up where they have no effect, held where others have a say. */
import { describe, expect, test } from 'vitest';
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
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

const reasons = async (world: EmbeddedWorld): Promise<string[]> =>
  (await sizedEvents(world)).flatMap(({ reason }) => reason ?? []);
const untilTold = (world: EmbeddedWorld, reason: string, limit = 20 * MINUTE): Promise<void> =>
  world.until(`${reason} is told`, async () => (await reasons(world)).includes(reason), limit);
const loadAll = async (world: EmbeddedWorld, annotations: Record<string, string>): Promise<void> => {
  for (const { metadata } of await sizedPods(world)) {
    const body = { metadata: { annotations } };
    await world.api.patch(resources.pods, metadata?.name ?? '', { type: 'merge', body }, inShop);
  }
};

describe('a decrease that does harm', () => {
  test('is taken back on the first pod, before the others had it', async () => {
    const world = await startSizedWorld({ rightsizing: '  maxConcurrentRequests: 4' });
    await deployLoaded(world, { replicas: 3, limits: { cpu: '1', memory: '512Mi' } });
    await untilReady(world, 'web', 3);
    await createPolicy(world, { mode: 'Auto', updates: { updateRequestsOnly: false } });
    await world.until('a first pod has less', async () => (await requestsOf(world)).some(({ cpu }) => cpu === '240m'));
    // More than its new limit of memory: it is killed.
    const small = (await sizedPods(world)).find(
      (pod) => pod.spec?.containers[0]?.resources?.requests?.['cpu'] === '240m',
    );
    const body = { metadata: { annotations: { 'stowage.test/memory': 'step(100Mi, 300Mi, 30s)' } } };
    await world.api.patch(resources.pods, small?.metadata?.name ?? '', { type: 'merge', body }, inShop);
    await untilTold(world, 'ChangeReverted');
    const event = (await sizedEvents(world)).find(({ reason }) => reason === 'ChangeReverted');
    expect(event?.note).toMatch(/killed for want of memory.*Suggestion: /);
    const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
    expect(JSON.parse(metadata?.annotations?.['optipod.io/learned-floors'] ?? '{}')).toMatchObject({
      floors: [['app', 'memory', 512 * 2 ** 20, expect.any(Number)]],
      reverts: 1,
    });
    await world.until('all have what they had, or more', async () =>
      (await requestsOf(world)).every(({ memory }) => Number.parseInt(memory ?? '0', 10) >= 512),
    );
  });
});

describe('others who have a say', () => {
  test('an autoscaler by CPU holds CPU; memory goes on', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1 });
    await untilReady(world, 'web', 1);
    await world.api.create(resources.horizontalPodAutoscalers, cpuAutoscaler(1, 3), inShop);
    await createPolicy(world, { mode: 'Auto' });
    await world.until('memory fell', async () => (await requestsOf(world)).every(({ memory }) => memory === '120Mi'));
    expect((await requestsOf(world))[0]?.['cpu']).toBe('500m');
    await world.until('told', async () => (await statusOf(world))?.reason === 'HpaTarget');
    expect((await statusOf(world))?.recommendations?.[0]?.cpu).toBe('240m');
  });

  test('KeepScalePoint: the target that keeps the point is named, by a warning', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1 });
    await untilReady(world, 'web', 1);
    await world.api.create(resources.horizontalPodAutoscalers, cpuAutoscaler(1, 3), inShop);
    await createPolicy(world, { mode: 'Auto', spec: { hpa: 'KeepScalePoint' } });
    await world.until('told', async () => (await statusOf(world))?.reason === 'HpaScalePoint');
    expect((await requestsOf(world))[0]?.['cpu']).toBe('500m');
    await untilTold(world, 'WorkloadSkipped');
    const told = (await sizedEvents(world)).find(({ reason }) => reason === 'WorkloadSkipped');
    // 95 % of 500m are 198 % of 240m.
    expect(told?.note).toMatch(/HpaScalePoint: .*set its target to 198 % and hpa: Ignore.*Suggestion: /);
    expect(world.operatorWrites.some((write) => write.includes('horizontalpodautoscalers'))).toBe(false);
  });

  test.each(['Auto', 'Recommend'] as const)(
    'rightsizing bug 21: a need beyond the maximum is told in mode %s',
    async (mode) => {
      const world = await startSizedWorld();
      await deployLoaded(world, { replicas: 1, requests: { cpu: '100m', memory: '60Mi' } });
      await untilReady(world, 'web', 1);
      const bounds = { cpu: { min: '10m', max: '4' }, memory: { min: '16Mi', max: '64Mi' } };
      await createPolicy(world, { mode, bounds });
      const status = mode === 'Auto' ? 'Applied' : 'Recommended';
      await world.until('told', async () => {
        const entry = await statusOf(world);
        return entry?.reason === 'AtMax' && entry.status === status;
      });
      expect((await statusOf(world))?.message).toMatch(
        /^More memory of container app is needed than the policy allows: held at the maximum/,
      );
      await untilTold(world, 'WorkloadSkipped');
      const told = (await sizedEvents(world)).find(({ reason }) => reason === 'WorkloadSkipped');
      expect(told?.note).toMatch(/AtMax: .*Suggestion: Raise the maximum in resourceBounds/);
    },
  );

  test('a workload with optipod.io/paused is advised and not changed', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1, annotations: { 'optipod.io/paused': 'true' } });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode: 'Auto' });
    await world.until('told', async () => (await statusOf(world))?.reason === 'OptedOut');
    expect(await requestsOf(world)).toEqual([{ cpu: '500m', memory: '512Mi' }]);
  });

  test('somebody who puts the template back is noticed, and the fight is given up', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1 });
    await untilReady(world, 'web', 1);
    await createPolicy(world, {
      mode: 'Auto',
      updates: { allowInPlaceResize: false, allowRecreate: true, cooldown: '0s' },
    });
    const putBack = async (): Promise<void> => {
      const { spec } = await world.api.get(resources.deployments, 'web', inShop);
      const [app] = spec?.template?.spec?.containers ?? [];
      if (app === undefined || app.resources?.requests?.['cpu'] === '500m') return;
      const containers = [{ name: 'app', resources: { requests: { cpu: '500m', memory: '512Mi' } } }];
      const body = { spec: { template: { spec: { containers } } } };
      await world.api.patch(
        resources.deployments,
        'web',
        { type: 'strategic', body },
        { ...inShop, fieldManager: 'argocd' },
      );
    };
    await world.until(
      'given up',
      async () => {
        await world.clock.advance(10_000);
        await putBack();
        return (await statusOf(world))?.reason === 'ChangesIneffective';
      },
      60 * MINUTE,
    );
    const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
    await world.clock.advance(10 * MINUTE);
    expect((await world.api.get(resources.deployments, 'web', inShop)).metadata?.generation).toBe(metadata?.generation);
  });
});

describe('requests in a template that another manager applied', () => {
  test.each([true, false])('with forceConflicts: %s', async (isForced) => {
    const world = await startSizedWorld({ rightsizing: `  forceConflicts: ${isForced}` });
    const applied = { apiVersion: 'apps/v1', kind: 'Deployment', ...loadedDeployment({ replicas: 1 }) };
    const manager = { ...inShop, fieldManager: 'argocd' };
    await world.api.patch(resources.deployments, 'web', { type: 'apply', body: applied, force: true }, manager);
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode: 'Auto', updates: { allowInPlaceResize: false, allowRecreate: true } });
    await untilTold(world, isForced ? 'SSAOwnershipTaken' : 'SSAConflict');
    const event = (await sizedEvents(world)).find(({ reason }) => reason?.startsWith('SSA'));
    expect(event?.note).toContain('argocd');
    const { spec } = await world.api.get(resources.deployments, 'web', inShop);
    const requests = spec?.template?.spec?.containers[0]?.resources?.requests;
    expect(requests?.['cpu'] === '500m').toBe(!isForced);
    const outcome = isForced ? 'Applied' : 'Skipped';
    await world.until(outcome, async () => (await statusOf(world))?.status === outcome);
    const told = (await reasons(world)).length;
    await world.clock.advance(60 * MINUTE);
    if (!isForced) expect((await reasons(world)).length).toBe(told);
  });
});

describe('more is given at once', () => {
  test('a pod that is killed for want of memory gets more without waiting for a cooldown', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1, requests: { cpu: '200m', memory: '128Mi' }, limits: { memory: '256Mi' } });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode: 'Auto', updates: { updateRequestsOnly: false, cooldown: '1h' } });
    await world.clock.advance(MINUTE);
    // Each time it runs for half a minute: only then can it be resized.
    await loadAll(world, { 'stowage.test/memory': 'step(100Mi, 400Mi, 30s)' });
    await world.until(
      'a limit that suffices',
      async () => {
        const [pod] = await sizedPods(world);
        const limit = pod?.spec?.containers[0]?.resources?.limits?.['memory'] ?? '0';
        return /^(\d+)Mi$/.test(limit) ? Number.parseInt(limit, 10) >= 400 : Number(limit) >= 400 * 2 ** 20;
      },
      10 * MINUTE,
    );
  });

  test('DaemonSets and StatefulSets are sized alike', async () => {
    const world = await startSizedWorld();
    const template = {
      metadata: { labels: { app: 'db' }, annotations: { 'stowage.test/cpu': '100m', 'stowage.test/memory': '100Mi' } },
      spec: { containers: [{ name: 'app', image: 'db:1', resources: { requests: { cpu: '400m', memory: '300Mi' } } }] },
    };
    const labels = { optimize: 'true' };
    const selector = { matchLabels: { app: 'db' } };
    await world.api.create(
      resources.statefulSets,
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'db', namespace: 'shop', labels },
        spec: { replicas: 2, serviceName: 'db', selector, template },
      },
      inShop,
    );
    await world.api.create(
      resources.daemonSets,
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'agent', namespace: 'shop', labels },
        spec: {
          selector: { matchLabels: { app: 'agent' } },
          template: { ...template, metadata: { ...template.metadata, labels: { app: 'agent' } } },
        },
      },
      inShop,
    );
    await untilReady(world, 'db', 2);
    await createPolicy(world, { mode: 'Auto' });
    for (const name of ['db', 'agent']) {
      await world.until(`${name} is sized`, async () => (await statusOf(world, name))?.status === 'Applied');
      const requests = await requestsOf(world, name);
      expect(requests.length).toBeGreaterThanOrEqual(2);
      expect(new Set(requests.map((each) => JSON.stringify(each)))).toEqual(
        new Set([JSON.stringify({ cpu: '120m', memory: '120Mi' })]),
      );
    }
  });
});

test('defect B1: memory that is in use holds back memory, and not CPU', async () => {
  const world = await startSizedWorld({ rightsizing: '  memoryMargin: 60\n' });
  await deployLoaded(world, { limits: { memory: '512Mi' } });
  await untilReady(world, 'web', 2);
  await createPolicy(world, {
    mode: 'Auto',
    updates: { updateRequestsOnly: false, memoryDecrease: 'Always', limitConfig: { memoryLimitMultiplier: 1.1 } },
  });
  await world.until('CPU follows use', async () => (await requestsOf(world)).every(({ cpu }) => cpu === '240m'));
  await world.clock.advance(30_000);
  expect((await requestsOf(world)).map(({ memory }) => memory)).toEqual(['512Mi', '512Mi']);
});

/** The ten integrations of allocation with what an API server and its controllers really say, on the embedded and on a real one. */
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ResourceType } from '../../src/api/resources.ts';
import { resources } from '../../src/api/resources.ts';
import { allocatedPods, millis, requestOf } from './allocated-pods.ts';
import { type AllocationWorld, pause, startAllocationWorld } from './allocation-world.ts';

const priorityClasses: ResourceType = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
};

describe(`allocation (${inject('cluster') === undefined ? 'embedded' : 'real'})`, () => {
  let world: AllocationWorld;
  beforeAll(async () => {
    world = await startAllocationWorld();
  });
  afterEach(async () => {
    world.setMetric(undefined);
    await world.clear();
  });
  afterAll(() => world?.stop());

  const { only, wish, current, allocation, untilRequest, untilReason, untilBound, limitRequests, isBargainedFor } =
    allocatedPods(() => world);

  test('integration 1: the priority that admission resolves from a PriorityClass weighs in the bargain', async () => {
    const { api, nodes } = world;
    const namespace = await world.namespace();
    const name = `high-${namespace}`;
    await api.create(priorityClasses, { metadata: { name }, value: 1_000_000 } as object);
    world.load(namespace, 'high', 900);
    world.load(namespace, 'low', 900);
    const low = await only(namespace, { app: 'low', node: nodes.agent, cpu: '400m' });
    const high = await only(namespace, {
      app: 'high',
      node: nodes.agent,
      cpu: '400m',
      spec: { priorityClassName: name },
    });
    expect(high.spec?.priority).toBe(1_000_000);
    await world.eventually(async () => {
      const [ofHigh, ofLow] = [await allocation(namespace, high), await allocation(namespace, low)];
      expect(ofHigh?.spec?.decision?.weight ?? 0).toBeGreaterThan(2 * (ofLow?.spec?.decision?.weight ?? 9));
      expect(millis(ofHigh?.spec?.desiredCPURequest)).toBeGreaterThan(millis(ofLow?.spec?.desiredCPURequest));
    });
    await api.delete(priorityClasses, name);
  });

  test('integration 2: growth stays within the ResourceQuota without a refusal; told to the agent as room', async () => {
    const { nodes, resizes } = world;
    const namespace = await world.namespace();
    const pod = await only(namespace, { app: 'web', node: nodes.plain });
    await limitRequests(namespace, 300, 200);
    await wish(namespace, pod, { request: 250 });
    await untilRequest(namespace, pod, (request) => expect(request).toBe(250));
    await wish(namespace, pod, { request: 500, urgent: true });
    await untilReason(namespace, pod, 'QuotaExceeded');
    expect(resizes.refused).toEqual([]);
    await world.eventually(async () =>
      expect((await allocation(namespace, pod))?.status?.guidance).toMatchObject({
        quotaRequestRoom: 50,
        quotaNodeShare: 1,
      }),
    );
    // Shrinking is always possible.
    await wish(namespace, pod, { request: 150, urgent: true });
    await untilRequest(namespace, pod, (request) => expect(request).toBe(150));
  });

  test('integration 2: a quota that counts other pods of the namespace holds nobody back, and the server agrees', async () => {
    const { api, nodes, resizes } = world;
    const namespace = await world.namespace();
    const pod = await only(namespace, { app: 'web', node: nodes.plain });
    const spec = { hard: { 'requests.cpu': '1m' }, scopes: ['Terminating'] };
    await api.create(resources.resourceQuotas, { metadata: { name: 'jobs' }, spec }, { namespace });
    await world.eventually(async () => {
      const quota = await api.get(resources.resourceQuotas, 'jobs', { namespace });
      expect(quota.status?.used?.['requests.cpu']).toBe('0');
    });
    await wish(namespace, pod, { request: 500 });
    await untilRequest(namespace, pod, (request) => expect(request).toBe(500));
    expect(resizes.refused).toEqual([]);
  });

  test('integration 2: a 403 that comes all the same is understood, and not repeated', async () => {
    const { nodes, resizes, blind } = world;
    const namespace = await world.namespace();
    const pod = await only(namespace, { app: 'web', node: nodes.plain });
    blind.quotas = true;
    try {
      await limitRequests(namespace, 300, 200);
      await wish(namespace, pod, { request: 500 });
      // Neither what is followed nor what is read afresh shows the quota, so the server is the first to say no.
      await untilReason(namespace, pod, 'QuotaExceeded');
      expect([...resizes.refused]).toEqual([expect.stringContaining('exceeded quota: cpu')]);
      await pause(world.clock, 3000);
      expect(resizes.refused).toHaveLength(1);
      expect(requestOf(await current(namespace, pod))).toBe(200);
    } finally {
      blind.quotas = false;
      resizes.refused.length = 0;
    }
  });

  test('integration 3: pressure on the node stops growth, NotReady freezes it', async () => {
    const { nodes } = world;
    const namespace = await world.namespace();
    world.load(namespace, 'web', 150);
    world.load(namespace, 'idle', 10);
    await only(namespace, { app: 'idle', node: nodes.agent, cpu: '900m' });
    const pod = await only(namespace, { app: 'web', node: nodes.agent, cpu: '300m' });
    await world.eventually(async () => expect(await allocation(namespace, pod)).toBeDefined());
    const isAtMost = async (most: number): Promise<void> => {
      await world.planned(6);
      expect(requestOf(await current(namespace, pod))).toBeLessThanOrEqual(most);
    };
    await world.setConditions(nodes.agent, { MemoryPressure: 'True' });
    await world.clamped('NodePressure');
    world.load(namespace, 'web', 900);
    await isAtMost(300);
    await world.setConditions(nodes.agent, { Ready: 'False' });
    await world.clamped('NodeNotReady');
    await isAtMost(300);
    await world.setConditions(nodes.agent, {});
    await untilRequest(namespace, pod, (request) => expect(request).toBeGreaterThan(500));
  });

  test('integration 4: what a LimitRange allows is the most that is asked for', async () => {
    const { api, nodes, resizes } = world;
    const namespace = await world.namespace();
    const limits = [{ type: 'Container', max: { cpu: '500m' }, min: { cpu: '100m' } }];
    await api.create(resources.limitRanges, { metadata: { name: 'bounds' }, spec: { limits } }, { namespace });
    const pod = await only(namespace, { app: 'web', node: nodes.plain, limit: '400m' });
    await untilBound(namespace, pod, 'LimitRange');
    await wish(namespace, pod, { request: 800, limit: 900 });
    await world.eventually(async () => {
      const { spec } = await current(namespace, pod);
      expect(millis(spec?.containers[0]?.resources?.limits?.['cpu'])).toBe(500);
    });
    await untilReason(namespace, pod, 'Constrained');
    await wish(namespace, pod, { request: 20, limit: 500, urgent: true });
    await untilRequest(namespace, pod, (request) => expect(request).toBe(100));
    expect(resizes.refused).toEqual([]);
    const { guidance } = (await allocation(namespace, pod))?.status ?? {};
    expect(guidance?.bounds).toContainEqual(expect.objectContaining({ reason: 'LimitRange', min: 100, max: 500 }));
  });

  test('integration 5: an autoscaler on CPU utilization freezes the request', async () => {
    const { api, nodes } = world;
    const namespace = await world.namespace();
    const pod = await only(namespace, { app: 'web', node: nodes.plain });
    const spec = {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
      ],
    };
    await api.create(resources.horizontalPodAutoscalers, { metadata: { name: 'web' }, spec } as object, { namespace });
    // What it has: nothing else is on its way when the request is frozen.
    await wish(namespace, pod, { request: 200 });
    await world.eventually(async () =>
      expect((await allocation(namespace, pod))?.status?.guidance).toMatchObject({ isRequestFrozen: true }),
    );
    await wish(namespace, pod, { request: 600, urgent: true });
    await untilReason(namespace, pod, 'Constrained');
    expect(requestOf(await current(namespace, pod))).toBe(200);
    await api.delete(resources.horizontalPodAutoscalers, 'web', { namespace });
    await untilRequest(namespace, pod, (request) => expect(request).toBe(600));
  });

  test('integration 6: while a disruption budget has nothing to give, by its controller’s own count, nothing decreases', async () => {
    const { api, nodes } = world;
    const namespace = await world.namespace();
    const pod = await only(namespace, { app: 'web', node: nodes.plain, cpu: '400m' });
    const spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } };
    await api.create(resources.podDisruptionBudgets, { metadata: { name: 'web' }, spec }, { namespace });
    await world.eventually(async () => {
      const { status } = await api.get(resources.podDisruptionBudgets, 'web', { namespace });
      expect(status).toMatchObject({ expectedPods: 1, disruptionsAllowed: 0, currentHealthy: 1 });
    });
    await untilBound(namespace, pod, 'PodDisruptionBudget');
    await wish(namespace, pod, { request: 200, urgent: true });
    await untilReason(namespace, pod, 'Constrained');
    expect(requestOf(await current(namespace, pod))).toBe(400);
    await api.delete(resources.podDisruptionBudgets, 'web', { namespace });
    await untilRequest(namespace, pod, (request) => expect(request).toBe(200));
  });

  test('integration 7: replicas crowded into one domain weigh less each', async () => {
    const { nodes } = world;
    const namespace = await world.namespace();
    const constraint = {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { app: 'web' } },
    };
    const spec = { topologySpreadConstraints: [constraint] };
    const [pod] = await world.deploy(namespace, { app: 'web', node: nodes.agent, replicas: 2, spec });
    if (pod === undefined) throw new Error('there is no pod');
    await world.eventually(async () => {
      const found = await allocation(namespace, pod);
      expect(found?.status?.guidance?.spread).toBe(0.8);
    });
    await isBargainedFor(namespace);
    await world.eventually(async () =>
      expect((await allocation(namespace, pod))?.spec?.decision?.weight).toBeCloseTo(0.8, 3),
    );
  });

  test('integration 7: no replica is given more than half again what its like have', async () => {
    const { nodes, resizes } = world;
    const namespace = await world.namespace();
    const [pod] = await world.deploy(namespace, { app: 'web', node: nodes.plain, replicas: 3 });
    if (pod === undefined) throw new Error('there is no pod');
    await untilBound(namespace, pod, 'TopologySpread');
    await wish(namespace, pod, { request: 600 });
    await untilReason(namespace, pod, 'Constrained');
    expect(requestOf(await current(namespace, pod))).toBe(300);
    expect((await allocation(namespace, pod))?.status?.guidance?.bounds).toContainEqual(
      expect.objectContaining({ reason: 'TopologySpread', max: 300 }),
    );
    expect(resizes.refused).toEqual([]);
  });

  test.each([
    ['met', 'agent', 1.05],
    ['not met', 'plain', 0.95],
  ] as const)('integration 8: a preferred affinity that is %s', async (_, preferred, factor) => {
    const { nodes } = world;
    const namespace = await world.namespace();
    const expression = { key: 'kubernetes.io/hostname', operator: 'In', values: [nodes[preferred]] };
    const nodeAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, preference: { matchExpressions: [expression] } }],
    };
    const pod = await only(namespace, { app: 'web', node: nodes.agent, spec: { affinity: { nodeAffinity } } });
    await world.eventually(async () =>
      expect((await allocation(namespace, pod))?.status?.guidance?.affinity).toBe(factor),
    );
    await isBargainedFor(namespace);
    await world.eventually(async () =>
      expect((await allocation(namespace, pod))?.spec?.decision?.weight).toBeCloseTo(factor, 3),
    );
  });

  test('integration 9: a pod that is not ready is not given less, and gets back what it lost just before', async () => {
    const { nodes } = world;
    const namespace = await world.namespace();
    world.load(namespace, 'web', 10);
    await world.setReady(namespace, 'web', false);
    const pod = await only(namespace, { app: 'web', node: nodes.agent, cpu: '600m' });
    world.load(namespace, 'busy', 1500);
    const busy = await only(namespace, { app: 'busy', node: nodes.agent, cpu: '300m' });
    await world.eventually(async () => expect(await allocation(namespace, busy)).toBeDefined());
    await world.planned(6);
    expect(requestOf(await current(namespace, pod))).toBe(600);
    await world.setReady(namespace, 'web', true);
    await untilRequest(namespace, pod, (request) => expect(request).toBeLessThan(500));
    await untilRequest(namespace, busy, (request) => expect(request).toBeGreaterThan(400));
    await world.setReady(namespace, 'web', false);
    await untilRequest(namespace, pod, (request) => expect(request).toBe(600));
    expect((await allocation(namespace, pod))?.spec?.decision?.clamps?.map(({ reason }) => reason)).toContain(
      'RolledBack',
    );
  });

  test('integration 10: a figure of the application raises demand, by an administrator’s query', async () => {
    const { api, nodes, configNamespace } = world;
    const namespace = await world.namespace();
    const data = { 'queue-length': 'sum by (namespace, pod) (queue_length{pod=~"$pods"})' };
    await api.create(
      resources.configMaps,
      { metadata: { name: 'mbcas-demand-queries' }, data },
      { namespace: configNamespace },
    );
    world.load(namespace, 'web', 200);
    world.load(namespace, 'busy', 1700);
    await only(namespace, { app: 'busy', node: nodes.agent, cpu: '1400m' });
    const annotations = { 'mbcas.io/demand-metric': 'queue-length', 'mbcas.io/demand-target': '10' };
    const pod = await only(namespace, { app: 'web', node: nodes.agent, annotations });
    // By what it uses it wants 350m.
    await untilRequest(namespace, pod, (request) => expect(request).toBeGreaterThan(300));
    expect(requestOf(await current(namespace, pod))).toBeLessThan(400);
    world.setMetric(20);
    await untilRequest(namespace, pod, (request) => expect(request).toBeGreaterThan(550));
  });
});

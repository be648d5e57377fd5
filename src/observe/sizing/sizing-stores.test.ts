import { expect, test } from 'vitest';
import { customResourceDefinitions } from '../../api/crd/crd.ts';
import { resources } from '../../api/resources.ts';
import { startVirtualCluster, testDeployment, testNodes } from '../../cluster/testing/virtual-cluster.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createLiveStores } from '../live-stores.ts';
import { createLiveView } from '../live-view.ts';
import { createSizingView } from './live-sizing-view.ts';
import { verticalPodAutoscalers } from './project-autoscalers.ts';
import { createSizingStores } from './sizing-stores.ts';

const inDefault = { namespace: 'default' };
const vpaCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'verticalpodautoscalers.autoscaling.k8s.io' },
  spec: {
    group: 'autoscaling.k8s.io',
    scope: 'Namespaced',
    names: {
      plural: 'verticalpodautoscalers',
      singular: 'verticalpodautoscaler',
      kind: 'VerticalPodAutoscaler',
      listKind: 'VerticalPodAutoscalerList',
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

async function setUp() {
  const world = await startVirtualCluster({ nodes: testNodes(1) });
  const { api } = world.cluster;
  const reading = { api, clock: world.clock, random: createSeededRandom(1), log: createSilentLogger() };
  const stores = createLiveStores({ ...reading, sizing: true });
  const live = createLiveView(stores);
  const view = createSizingView({ view: live, stores, sizingStores: createSizingStores(reading) });
  const stop = new AbortController();
  const running = Promise.all([live.run(stop.signal), view.run(stop.signal)]);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    await world[Symbol.asyncDispose]();
  };
  return { world, api, view, end };
}

test('the view follows a live API server: workloads, their running pods, what bounds them', async () => {
  const { world, api, view, end } = await setUp();
  await api.create(resources.deployments, testDeployment('web', { replicas: 2 }), inDefault);
  const limits = [{ type: 'Container', max: { cpu: '2' } }];
  await api.create(resources.limitRanges, { metadata: { name: 'bounds' }, spec: { limits } }, inDefault);
  await world.seconds(30);
  expect(view.freshness()).toEqual({ synced: true, stale: [] });
  const web = view.workload({ kind: 'Deployment', namespace: 'default', name: 'web' });
  expect(web).toMatchObject({ replicas: 2, isRollingOut: false, containers: [{ name: 'app' }] });
  const pods = web === undefined ? [] : view.podsOf(web);
  expect(pods.map(({ sizing }) => sizing.statuses[0]?.running)).toEqual([true, true]);
  // Replicas of one template share what the template says.
  const [size, other] = pods.map(({ sizing }) => sizing.containers[0]?.size);
  expect(size).toBe(other);
  expect(view.limitRanges('default')).toMatchObject([{ max: { cpu: 2000 } }]);
  expect([...view.namespaces()].map(({ name }) => name)).toContain('default');
  await end();
});

test('VPAs are heeded from when they are served to when they are not, and nothing waits for them', async () => {
  const { world, api, view, end } = await setUp();
  await world.seconds(5);
  expect(view.freshness()).toEqual({ synced: true, stale: [] });
  expect(view.vpas('default')).toEqual([]);
  await api.create(customResourceDefinitions, vpaCrd);
  const vpa = {
    apiVersion: 'autoscaling.k8s.io/v1',
    kind: 'VerticalPodAutoscaler',
    metadata: { name: 'web' },
    spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
  };
  await world.seconds(5);
  await api.create(verticalPodAutoscalers, vpa, inDefault);
  await world.seconds(70);
  expect(view.vpas('default')).toMatchObject([{ name: 'web', updateMode: 'Auto' }]);
  expect(view.freshness()).toEqual({ synced: true, stale: [] });
  await api.delete(customResourceDefinitions, vpaCrd.metadata.name);
  await world.seconds(300);
  expect(view.vpas('default')).toEqual([]);
  expect(view.freshness()).toEqual({ synced: true, stale: [] });
  await end();
});

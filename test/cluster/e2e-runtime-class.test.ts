/** What the API server itself gives to pods of a RuntimeClass before the webhook sees them, and what the operator makes of it. */
import { beforeAll, expect, test } from 'vitest';
import type { Deployment } from '../../src/api/core.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { useOperatorWorld } from './operator-world.ts';
import { useRealCluster } from './real-cluster.ts';
import { annotate, deploy, ENABLED, managedNamespace, podsOf, policy, untilSides } from './workloads.ts';

const cluster = useRealCluster();
const world = useOperatorWorld(cluster);
const runtimeClasses: ResourceType = {
  group: 'node.k8s.io',
  version: 'v1',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
};

beforeAll(async () => {
  await world().startOperator();
});

test('a side that it pins is stamped and respected: of all workloads that one is told of and not moved', async () => {
  const { api, eventually } = cluster();
  const namespace = await managedNamespace(cluster());
  const nodeSelector = { 'karpenter.sh/capacity-type': 'on-demand' };
  const toleration = { key: 'sandboxed', operator: 'Exists', effect: 'NoSchedule' };
  const overhead = { cpu: '5m' };
  const runtimeClass = {
    metadata: { name: namespace },
    handler: 'sandboxed',
    overhead: { podFixed: overhead },
    scheduling: { nodeSelector, tolerations: [toleration] },
  };
  await api.create(runtimeClasses, runtimeClass);
  const app = { app: 'sandboxed' };
  const sandboxed: Deployment = {
    metadata: { name: 'sandboxed', labels: ENABLED, annotations: policy(100, 0) },
    spec: {
      replicas: 3,
      selector: { matchLabels: app },
      template: {
        metadata: { labels: app },
        spec: { runtimeClassName: namespace, containers: [{ name: 'main', image: 'example.test/app:1' }] },
      },
    },
  };
  await api.create(resources.deployments, sandboxed, { namespace });
  await untilSides(cluster(), namespace, 0, 3);
  for (const { metadata, spec } of await podsOf(cluster(), namespace)) {
    expect(spec).toMatchObject({ nodeSelector, overhead });
    expect(spec?.tolerations).toContainEqual(toleration);
    expect(metadata?.annotations).toMatchObject({ 'spotalis.io/capacity': 'on-demand', 'spotalis.io/pinned': 'true' });
  }
  await eventually(async () => {
    const { items } = await api.list(resources.events, { namespace });
    expect(items.map(({ reason }) => reason)).toContain('ConflictingPlacement');
  });

  // Another workload's moves take several cooldowns meanwhile.
  const other = await managedNamespace(cluster());
  await deploy(cluster(), other, 3, policy(0, 0));
  await untilSides(cluster(), other, 0, 3);
  await annotate(cluster(), 'deployments', other, 'web', policy(100, 0));
  await untilSides(cluster(), other, 3, 0);
  expect(world().audit.evictions(other)).toHaveLength(3);
  expect(world().audit.evictions(namespace)).toEqual([]);
  await api.delete(runtimeClasses, namespace);
});

/** Sizes per replica on the real control plane: real StatefulSet controller, real admission, real validation of pods/resize. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { StatefulSet } from '../../src/api/core.ts';
import { policyType } from '../../src/api/optimization-policy.ts';
import { resources } from '../../src/api/resources.ts';
import { useRealCluster } from './real-cluster.ts';
import {
  createPolicy,
  podsOf,
  restartsOf,
  rightsizingConfig,
  sizesOf,
  untilRunning,
  untilScraped,
  usePrometheus,
  useRightsizingWorld,
  workloadStatus,
} from './rightsizing-world.ts';
import { managedNamespace } from './workloads.ts';

const cluster = useRealCluster({ servesMetrics: true });
const world = useRightsizingWorld(cluster);
const prometheus = usePrometheus(cluster);
const REPLICAS = 5;
const HOT = 'db-2';

beforeAll(async () => {
  await world().startOperator(rightsizingConfig(prometheus().url));
});

/** Of whose replicas each uses 48 MiB of the 256 it requests. */
const db: StatefulSet = {
  metadata: { name: 'db', labels: { optimize: 'true' } },
  spec: {
    replicas: REPLICAS,
    serviceName: 'db',
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' }, annotations: { 'stowage.test/cpu': '100m', 'stowage.test/memory': '48Mi' } },
      spec: {
        containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '200m', memory: '256Mi' } } }],
      },
    },
  },
};

describe('sizes per replica', () => {
  test('one hot of five: the others shrink in place, each is born again with its own size, and all return to one', async () => {
    const { api, eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    await api.create(resources.statefulSets, db, { namespace, fieldManager: 'team' });
    await untilRunning(cluster(), namespace, REPLICAS, 'db');
    const body = { metadata: { annotations: { 'stowage.test/memory': '230Mi' } } };
    await api.patch(resources.pods, HOT, { type: 'merge', body }, { namespace });
    await untilScraped(cluster(), prometheus(), namespace, REPLICAS);
    await createPolicy(cluster(), namespace, { updates: { sizePerReplica: true } });
    const memoryOf = async (): Promise<ReadonlyMap<string, number>> =>
      new Map(
        (await podsOf(cluster(), namespace, 'db')).map((pod) => {
          const { asked, actual } = sizesOf(pod);
          expect(actual).toEqual(asked);
          const text = asked['memory'] ?? '';
          return [pod.metadata?.name ?? '', text.endsWith('Mi') ? Number.parseInt(text, 10) * 2 ** 20 : Number(text)];
        }),
      );
    const MIB = 2 ** 20;
    const shrunk = await eventually(async () => {
      const memory = await memoryOf();
      for (const [name, bytes] of memory) {
        if (name === HOT) expect(bytes).toBeGreaterThan(230 * MIB);
        else expect(bytes).toBeLessThan(100 * MIB);
      }
      expect((await workloadStatus(cluster(), namespace, 'db'))?.replicaSizes).toMatch(/^5 of 5 replicas have sizes/);
      return memory;
    });
    const after = await podsOf(cluster(), namespace, 'db');
    expect(restartsOf(after)).toBe(0);
    const { spec } = await api.get(resources.statefulSets, 'db', { namespace });
    expect(spec?.template.spec?.containers[0]?.resources).toEqual(db.spec?.template.spec?.containers[0]?.resources);

    for (const name of [HOT, 'db-4']) await api.delete(resources.pods, name, { namespace });
    await eventually(async () => {
      const uids = new Set(after.map(({ metadata }) => metadata?.uid));
      const born = (await podsOf(cluster(), namespace, 'db')).filter(({ metadata }) => !uids.has(metadata?.uid));
      expect(new Set(born.map(({ metadata }) => metadata?.name))).toEqual(new Set([HOT, 'db-4']));
      for (const { metadata } of born) expect(metadata?.annotations?.['optipod.io/applied']).toBe('true');
    });
    await untilRunning(cluster(), namespace, REPLICAS, 'db');
    const born = await eventually(memoryOf);
    expect(born.get(HOT)).toBeGreaterThan(230 * MIB);
    expect(born.get('db-4')).toBeLessThan(2 * (shrunk.get('db-4') ?? 0));

    const policy = { spec: { updateStrategy: { sizePerReplica: false, memoryDecrease: 'Never' } } };
    await api.patch(policyType('optipod.io'), 'sizes', { type: 'merge', body: policy }, { namespace });
    await eventually(async () => {
      const { metadata } = await api.get(resources.statefulSets, 'db', { namespace });
      expect(metadata?.annotations?.['optipod.io/replica-sizes']).toBeUndefined();
      for (const bytes of (await memoryOf()).values()) expect(bytes).toBeGreaterThan(230 * MIB);
    });
  });
});

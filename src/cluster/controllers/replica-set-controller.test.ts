import { expect, test } from 'vitest';
import type { KubeObject, ReplicaSet } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { KubeError } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createApiServer } from '../apiserver/api-server.ts';
import { createCaches } from '../caches.ts';
import { findCondition } from '../objects.ts';
import { TEST_START_MILLIS, testTemplate } from '../testing/virtual-cluster.ts';
import { createReplicaSetController } from './replica-set-controller.ts';

const IN_DEFAULT = { namespace: 'default' };

/** Only the ReplicaSet controller, on an API whose pod creations the test may refuse and counts. */
async function startAlone(replicas: number) {
  const clock = createVirtualClock(TEST_START_MILLIS);
  const random = createSeededRandom(1);
  const log = createSilentLogger();
  const server = createApiServer({ clock, random });
  const direct = server.client();
  const state = { isRefusing: false, creations: 0, deletions: 0 };
  const api: KubeApi = {
    ...direct,
    create: <T extends KubeObject>(...[type, object, options]: Parameters<typeof direct.create<T>>) => {
      if (type.plural === 'pods') {
        state.creations++;
        const status = { reason: 'Forbidden', message: `pod ${state.creations} exceeds quota: pods` };
        if (state.isRefusing) return Promise.reject(new KubeError(403, status, 'refused'));
      }
      return direct.create(type, object, options);
    },
    delete: (...args) => {
      state.deletions++;
      return direct.delete(...args);
    },
  };
  const caches = createCaches({ api, clock, random, log });
  const controller = createReplicaSetController({ api, caches, clock, random, log });
  const stop = new AbortController();
  const work = [caches.run(stop.signal), controller.run(stop.signal)];
  await caches.synced();
  const set: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', ...IN_DEFAULT },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: testTemplate('web', {}) },
  };
  return {
    clock,
    state,
    set,
    api: direct,
    stored: () => caches.of(resources.replicaSets).get('default/web'),
    podCount: () => [...caches.of(resources.pods).all()].length,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(work);
      await server.close();
    },
  };
}

test('a refused creation costs one call a pass, is reported as ReplicaFailure, and is made up for later', async () => {
  await using at = await startAlone(50);
  at.state.isRefusing = true;
  await at.api.create(resources.replicaSets, at.set, IN_DEFAULT);
  await at.clock.advance(1);
  expect(at.state.creations).toBeLessThanOrEqual(3);
  expect(findCondition(at.stored()?.status?.conditions, 'ReplicaFailure')).toMatchObject({
    status: 'True',
    reason: 'FailedCreate',
    message: 'pod 1 exceeds quota: pods',
  });
  at.state.isRefusing = false;
  await at.clock.advance(60_000);
  expect(at.podCount()).toBe(50);
  expect(findCondition(at.stored()?.status?.conditions, 'ReplicaFailure')).toBeUndefined();
});

test('a burst creates every pod exactly once, 500 a pass', async () => {
  await using at = await startAlone(1200);
  await at.api.create(resources.replicaSets, at.set, IN_DEFAULT);
  await at.clock.advance(10);
  expect(at.podCount()).toBe(1200);
  expect(at.state.creations).toBe(1200);
});

test('a set being deleted creates no pods', async () => {
  await using at = await startAlone(3);
  const finalized = {
    ...at.set,
    metadata: { ...at.set.metadata, finalizers: ['example.com/hold'] },
    spec: { ...at.set.spec, replicas: 0 },
  };
  await at.api.create(resources.replicaSets, finalized as ReplicaSet, IN_DEFAULT);
  await at.api.delete(resources.replicaSets, 'web', IN_DEFAULT);
  await at.api.patch(resources.replicaSets, 'web', { type: 'merge', body: { spec: { replicas: 3 } } }, IN_DEFAULT);
  await at.clock.advance(1000);
  expect(at.podCount()).toBe(0);
});

test('pods of another namespace are not its own, whatever they say', async () => {
  await using at = await startAlone(2);
  await at.api.create(resources.replicaSets, at.set, IN_DEFAULT);
  await at.clock.advance(10);
  const uid = at.stored()?.metadata?.uid ?? '';
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, controller: true }];
  const inTenant = { namespace: 'tenant' };
  await at.api.create(resources.namespaces, { metadata: { name: 'tenant' } });
  const spec = { containers: [{ name: 'main', image: 'a' }] };
  await at.api.create(resources.pods, { metadata: { name: 'forged', ownerReferences }, spec }, inTenant);
  await at.api.patch(resources.replicaSets, 'web', { type: 'merge', body: { spec: { replicas: 3 } } }, IN_DEFAULT);
  await at.clock.advance(10);
  expect(at.podCount()).toBe(4);
  expect(at.stored()?.status?.replicas).toBe(3);
});

test('a scale-down deletes as many pods as are too many, each once', async () => {
  await using at = await startAlone(20);
  await at.api.create(resources.replicaSets, at.set, IN_DEFAULT);
  await at.clock.advance(10);
  await at.api.patch(resources.replicaSets, 'web', { type: 'merge', body: { spec: { replicas: 5 } } }, IN_DEFAULT);
  await at.clock.advance(10);
  expect(at.podCount()).toBe(5);
  expect(at.state.deletions).toBe(15);
});

const barePod = (name: string, labels: Record<string, string>) => ({
  apiVersion: 'v1' as const,
  kind: 'Pod' as const,
  metadata: { name, ...IN_DEFAULT, labels },
  spec: { containers: [{ name: 'app', image: 'app:1' }] },
});

test('an orphan that matches is adopted instead of making one more pod', async () => {
  await using at = await startAlone(3);
  await at.api.create(resources.pods, barePod('orphan', { app: 'web' }), IN_DEFAULT);
  await at.api.create(resources.pods, barePod('stranger', { app: 'db' }), IN_DEFAULT);
  await at.api.create(resources.replicaSets, at.set, IN_DEFAULT);
  await at.clock.advance(1000);
  const orphan = await at.api.get(resources.pods, 'orphan', IN_DEFAULT);
  expect(orphan.metadata?.ownerReferences?.map(({ kind, name, controller }) => [kind, name, controller])).toEqual([
    ['ReplicaSet', 'web', true],
  ]);
  expect((await at.api.get(resources.pods, 'stranger', IN_DEFAULT)).metadata?.ownerReferences ?? []).toEqual([]);
  expect(at.state.creations).toBe(2);
  expect(at.podCount()).toBe(4);
});

test('an orphan that appears later makes one pod too many, which goes', async () => {
  await using at = await startAlone(2);
  await at.api.create(resources.replicaSets, at.set, IN_DEFAULT);
  await at.clock.advance(1000);
  await at.api.create(resources.pods, barePod('late', { app: 'web' }), IN_DEFAULT);
  await at.clock.advance(1000);
  expect(at.podCount()).toBe(2);
});

test('a pod whose labels no longer match is let go and replaced', async () => {
  await using at = await startAlone(2);
  await at.api.create(resources.replicaSets, at.set, IN_DEFAULT);
  await at.clock.advance(1000);
  const { items } = await at.api.list(resources.pods, IN_DEFAULT);
  const name = items[0]?.metadata?.name ?? '';
  await at.api.patch(
    resources.pods,
    name,
    { type: 'merge', body: { metadata: { labels: { app: 'debug' } } } },
    IN_DEFAULT,
  );
  await at.clock.advance(1000);
  expect((await at.api.get(resources.pods, name, IN_DEFAULT)).metadata?.ownerReferences ?? []).toEqual([]);
  expect(at.podCount()).toBe(3);
  expect(at.stored()?.status?.replicas).toBe(2);
});

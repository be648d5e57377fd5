import { describe, expect, test } from 'vitest';
import type { Node, Pod } from '../api/core.ts';
import { testSettings } from '../observe/testing/placement-settings.ts';
import { createScene, MINUTE, NOON, node, pod } from './testing/spot-scene.ts';

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

const at = (millis: number): string => new Date(NOON + millis).toISOString();

describe('landings', () => {
  test('a pod that is bound to a spot node opens spot for its workload', () => {
    const { stores, memory } = createScene();
    memory.recordStranded('db', NOON, undefined, NOON);
    stores.nodes.put(node('s'));
    stores.pods.put(pod('db-0'));
    expect(memory.stateOf('db', NOON)).toMatchObject({ kind: 'closed' });
    stores.pods.put(pod('db-0', { nodeName: 's' }));
    expect(memory.stateOf('db', NOON)).toEqual({ kind: 'open' });
    expect(memory.lastLanded('db')).toBe(NOON);
  });

  test('one on on-demand says nothing', () => {
    const { stores, memory } = createScene();
    stores.nodes.put(node('o', { side: 'on-demand' }));
    stores.pods.put(pod('db-0'));
    stores.pods.put(pod('db-0', { nodeName: 'o' }));
    expect(memory.lastLanded('db')).toBeUndefined();
  });

  test('what ran before anybody watched is no landing', async () => {
    const { stores, watch, memory } = createScene();
    stores.nodes.put(node('s'));
    const old = pod('db-0', { nodeName: 's' });
    stores.pods.put({
      ...old,
      metadata: { ...old.metadata, creationTimestamp: new Date(NOON - MINUTE).toISOString() },
    });
    expect(memory.lastLanded('db')).toBeUndefined();
    expect(watch.waitingCovers('shop')).toBe(0);
  });

  test('workloads that are not enabled are nobody’s business', () => {
    const { stores, memory } = createScene({});
    stores.nodes.put(node('s'));
    stores.pods.put(pod('db-0'));
    stores.pods.put(pod('db-0', { nodeName: 's' }));
    expect(memory.lastLanded('db')).toBeUndefined();
  });

  test('a workload that is deleted is forgotten', () => {
    const { stores, memory } = createScene();
    memory.recordStranded('db', NOON, undefined, NOON);
    stores.statefulSets.remove({
      metadata: { name: 'db', namespace: 'shop' },
      spec: { selector: {}, serviceName: 'db', template: {} },
    });
    expect(memory.stateOf('db', NOON)).toEqual({ kind: 'open' });
  });
});

describe('hazard H8: pods on their way to spot', () => {
  const unschedulable = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable' };
  const sent = pod('db-0', { capacity: 'spot' });

  test.each<[string, Pod | undefined]>([
    ['it has a node', pod('db-0', { capacity: 'spot', nodeName: 's' })],
    ['none was found for it', { ...sent, status: { conditions: [unschedulable] } }],
    ['it has ended', { ...sent, status: { phase: 'Failed' } }],
    ['it is sent elsewhere', pod('db-0', { capacity: 'on-demand' })],
    ['it is gone', undefined],
  ])('one counts until %s', (_, later) => {
    const { stores, memory } = createScene();
    stores.pods.put(sent);
    stores.pods.put(pod('db-1', { capacity: 'on-demand' }));
    expect(memory.onTheirWay(NOON)).toBe(1);
    if (later === undefined) stores.pods.remove(sent);
    else stores.pods.put(later);
    expect(memory.onTheirWay(NOON)).toBe(0);
  });

  test('are those of workloads that are enabled', () => {
    const { stores, memory } = createScene({});
    stores.pods.put(sent);
    expect(memory.onTheirWay(NOON)).toBe(0);
  });
});

describe('hazard H5: a pod that waits for spot', () => {
  const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', lastTransitionTime: at(0) };
  const evictedAfter = (millis: number): Condition => ({
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    lastTransitionTime: at(millis),
  });
  const waiting = (...conditions: Condition[]): Pod => {
    const { metadata, ...sent } = pod('db-0', { capacity: 'spot' });
    const annotations = { ...metadata?.annotations, 'spotalis.io/admission-id': 'r1' };
    const status = { phase: 'Pending', conditions: [unscheduled, ...conditions] };
    return { ...sent, metadata: { ...metadata, annotations }, status };
  };

  test.each<[string, Condition | undefined, string]>([
    ['is recreated by a leader whose clock is ahead closes it', evictedAfter(2 * MINUTE), 'closed'],
    ['is evicted sooner says nothing', evictedAfter(MINUTE), 'open'],
    ['is deleted by others says nothing', undefined, 'open'],
  ])('and %s', (_, condition, kind) => {
    const { stores, memory } = createScene();
    stores.pods.put(waiting());
    if (condition !== undefined) stores.pods.put(waiting(condition));
    stores.pods.remove(waiting());
    expect(memory.stateOf('db', NOON)).toMatchObject({ kind });
  });

  test('belongs to nobody where its workload is not enabled', () => {
    const { stores, memory } = createScene({});
    stores.pods.put(waiting());
    stores.pods.put(waiting(evictedAfter(2 * MINUTE)));
    expect(memory.stateOf('db', NOON)).toEqual({ kind: 'open' });
  });
});

describe('cover that waits', () => {
  test('is counted until it has a node or is gone', () => {
    const { stores, watch } = createScene();
    for (const name of ['db-0', 'db-1']) stores.pods.put(pod(name, { fallback: true }));
    stores.pods.put(pod('db-2'));
    expect(watch.waitingCovers('shop')).toBe(2);
    stores.pods.put(pod('db-0', { fallback: true, nodeName: 'o' }));
    expect(watch.waitingCovers('shop')).toBe(1);
    stores.pods.remove(pod('db-1'));
    expect(watch.waitingCovers('shop')).toBe(0);
  });
});

describe('hazard H5: pods that pose as cover keep nobody from falling back', () => {
  const { maxConcurrent } = testSettings().fallback;
  const of = (namespace: string, each: Pod): Pod => ({
    ...each,
    metadata: { ...each.metadata, namespace, uid: `uid-${namespace}-${each.metadata?.name}` },
  });

  test('where they belong to no workload that is enabled', () => {
    const { stores, watch } = createScene();
    for (let index = 0; index < 60; index++) {
      const cover = pod(`x-${index}`, { fallback: true });
      stores.pods.put({ ...cover, metadata: { ...cover.metadata, ownerReferences: [] } });
      // Of a StatefulSet elsewhere.
      stores.pods.put(of('tenant', cover));
    }
    expect(watch.waitingCovers('shop')).toBe(0);
    const { stores: off, watch: unmanaged } = createScene({});
    off.pods.put(pod('db-0', { fallback: true }));
    expect(unmanaged.waitingCovers('shop')).toBe(0);
  });

  test('where they belong to one: other namespaces have their part of the limit', () => {
    const { stores, watch } = createScene();
    const labels = { 'spotalis.io/enabled': 'true' };
    stores.statefulSets.put({
      metadata: { name: 'db', namespace: 'tenant', uid: 'db-tenant', labels },
      spec: { selector: {}, serviceName: 'db', template: {} },
    });
    const ofTenant = (name: string): Pod => {
      const each = of('tenant', pod(name, { fallback: true }));
      const ownerReferences = [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'db-tenant', controller: true },
      ];
      return { ...each, metadata: { ...each.metadata, ownerReferences } };
    };
    for (let index = 0; index < 60; index++) stores.pods.put(ofTenant(`x-${index}`));
    expect(watch.waitingCovers('tenant')).toBe(60);
    expect(watch.waitingCovers('shop')).toBe(maxConcurrent - 1);
    for (let index = 0; index < maxConcurrent / 2; index++) stores.pods.put(pod(`db-${index}`, { fallback: true }));
    expect(watch.waitingCovers('shop')).toBe(60 + maxConcurrent / 2);
  });
});

describe('cover that was asked for', () => {
  test('counts until it is seen, whether or not it waits then', () => {
    const { stores, watch } = createScene();
    watch.askCover('uid-db-0', 'db');
    watch.askCover('uid-db-1', 'db');
    expect(watch.waitingCovers('shop')).toBe(2);
    stores.pods.put(pod('db-0', { fallback: true }));
    expect(watch.waitingCovers('shop')).toBe(2);
    stores.pods.put(pod('db-0', { fallback: true, nodeName: 'o' }));
    expect(watch.waitingCovers('shop')).toBe(1);
    stores.pods.put(pod('db-1', { fallback: true, nodeName: 'o' }));
    expect(watch.waitingCovers('shop')).toBe(0);
  });

  test('is not the cover that was there before, nor one of another workload', () => {
    const { stores, watch } = createScene();
    stores.pods.put(pod('db-0', { fallback: true, nodeName: 'o' }));
    watch.askCover('uid-db-1', 'db');
    watch.askCover('uid-web-1', 'web');
    stores.pods.put(pod('db-0', { fallback: true, nodeName: 'o' }));
    expect(watch.waitingCovers('shop')).toBe(2);
    stores.pods.put(pod('db-1', { fallback: true, nodeName: 'o' }));
    expect(watch.waitingCovers('shop')).toBe(1);
  });

  test('counts no longer once it is taken back, or was never made', async () => {
    const { clock, watch } = createScene();
    watch.askCover('uid-db-0', 'db');
    watch.withdrawCover('uid-db-0');
    expect(watch.waitingCovers('shop')).toBe(0);
    watch.askCover('uid-db-0', 'db');
    await clock.advance(59_999);
    expect(watch.waitingCovers('shop')).toBe(1);
    await clock.advance(1);
    expect(watch.waitingCovers('shop')).toBe(0);
  });
});

describe('hazard H8: losses', () => {
  const signs: readonly [string, (name: string) => Node][] = [
    [
      'a taint of its end',
      (name) => node(name, { spec: { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] } }),
    ],
    ['silence', (name) => node(name, { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } })],
  ];

  test.each(signs)('%s of nodes in use is a loss, told once a node', (_, leaving) => {
    const { stores, memory } = createScene();
    for (const name of ['s1', 's2', 's3', 's4']) {
      stores.nodes.put(node(name));
      stores.pods.put(pod(`on-${name}`, { nodeName: name }));
    }
    for (const name of ['s1', 's2']) {
      stores.nodes.put(leaving(name));
      stores.nodes.remove(node(name));
    }
    expect(memory.storm(NOON)).toBeUndefined();
    stores.nodes.put(leaving('s3'));
    expect(memory.storm(NOON)).toMatchObject({ lost: 3 });
    expect(memory.lossyPools(30, NOON)).toMatchObject([{ key: 'a/m5', lost: 3, standing: 1 }]);
  });

  test.each([
    ['another', 'on-demand'],
    ['no known', 'reserved'],
  ])('nodes in use that are relabelled to %s class are no losses, nor when they go later', (_, side) => {
    const { stores, memory } = createScene();
    for (const name of ['s1', 's2', 's3']) {
      stores.nodes.put(node(name));
      stores.pods.put(pod(`on-${name}`, { nodeName: name }));
      stores.nodes.put(node(name, { side }));
      stores.nodes.remove(node(name, { side }));
    }
    expect(memory.storm(NOON)).toBeUndefined();
    expect(memory.lossyPools(30, NOON)).toEqual([]);
  });

  test('nodes that go empty, but for their DaemonSets, are no losses; nor are nodes of on-demand', () => {
    const { stores, memory } = createScene();
    for (const name of ['s1', 's2', 's3']) {
      stores.nodes.put(node(name));
      stores.pods.put(pod(`on-${name}`, { nodeName: name, owner: 'DaemonSet' }));
      stores.nodes.remove(node(name));
    }
    for (const name of ['o1', 'o2', 'o3']) {
      stores.nodes.put(node(name, { side: 'on-demand' }));
      stores.pods.put(pod(`on-${name}`, { nodeName: name }));
      stores.nodes.remove(node(name));
    }
    expect(memory.storm(NOON)).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { seedOf } from '../cluster/load/curve.ts';
import { startVirtualCluster, testDeployment, testNodes } from '../cluster/testing/virtual-cluster.ts';
import { beRival, isByRival, isPartOf, isRivals, type Rival } from './rivals.ts';

const inShop = { namespace: 'shop' };
const names = ['a', 'b', 'c', 'd'];

/** Deployments of one pod each in `shop`, and a way to let a rival work on them. */
async function shop() {
  const at = await startVirtualCluster({ nodes: testNodes(1), apiServer: { managedFields: true } });
  const made = names.map((name): KubeObject => {
    const { metadata, ...rest } = testDeployment(name, { cpu: '200m' });
    return { ...rest, metadata: { ...metadata, namespace: 'shop', annotations: { told: 'once' } } };
  });
  const objects = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }, ...made];
  expect((await at.cluster.apply(objects)).problems).toEqual([]);
  await at.seconds(10);
  const deployment = (name: string) => at.cluster.api.get(resources.deployments, name, inShop);
  return {
    ...at,
    deployment,
    async work(rival: Rival, seconds: number) {
      const { signal } = new AbortController();
      const over = beRival(rival, seconds * 1000, { cluster: at.cluster, clock: at.clock, objects, signal });
      await at.seconds(seconds);
      await over;
    },
    /** Somebody gives the container 150m and notes it, and asks for three replicas. */
    async change(name: string) {
      const { spec, metadata } = await deployment(name);
      const containers = [{ name: 'app', resources: { requests: { cpu: '150m' } } }];
      const body = {
        metadata: { annotations: { told: 'twice', noted: 'yes' } },
        spec: { replicas: 3, template: { spec: { containers } } },
      };
      await at.cluster.api.patch(resources.deployments, name, { type: 'strategic', body }, inShop);
      return { spec, metadata };
    },
    async stateOf(name: string) {
      const { metadata, spec } = await deployment(name);
      const requests = spec?.template.spec?.containers[0]?.resources?.requests;
      return [requests?.['cpu'], spec?.replicas, metadata?.annotations?.['told'], metadata?.annotations?.['noted']];
    },
  };
}

describe('a rival', () => {
  test('that resizes does so with the pods of some workloads, once, and can be told by it', async () => {
    const { cluster, work, pods } = await shop();
    const before = pods('shop');
    await work('resizer', 90);
    const after = pods('shop');
    const resized = names.filter((name) => seedOf(name) % 2 === 1);
    const sizes = after.map(({ spec }) => spec?.containers[0]?.resources?.requests?.['cpu']);
    expect(sizes.filter((cpu) => cpu === '310m')).toHaveLength(resized.length);
    for (const [index, pod] of after.entries()) {
      const isResized = resized.includes(pod.metadata?.labels?.['app'] ?? '');
      expect([isByRival(before[index] ?? {}, pod), isRivals(pod), isByRival(pod, pod)]).toEqual([
        isResized,
        isResized,
        false,
      ]);
    }
    await cluster.stop();
  });

  test('that applies takes back what differs from how it was made, but for replicas, and leaves the rest', async () => {
    const { cluster, change, work, stateOf } = await shop();
    await change('a');
    await work('applier', 30);
    expect(await stateOf('a')).toEqual(['200m', 3, 'once', 'yes']);
    await cluster.stop();
  });

  test('that applies writes nothing where all is as it was made', async () => {
    const { cluster, deployment, work } = await shop();
    const before = await deployment('b');
    await work('applier', 60);
    expect(await deployment('b')).toEqual(before);
    await cluster.stop();
  });

  test('that replaces takes the notes of others away, too', async () => {
    const { cluster, change, work, stateOf } = await shop();
    await change('a');
    await work('replacer', 30);
    expect(await stateOf('a')).toEqual(['200m', 3, 'once', undefined]);
    await cluster.stop();
  });
});

test('what others take from a rival is not its write', () => {
  const entry = (fields: object, time: string, manager = 'vpa-updater') => ({
    metadata: { managedFields: [{ manager, operation: 'Update', time, fieldsV1: fields }] },
  });
  const before = entry({ 'f:cpu': {}, 'f:memory': {} }, '2026-06-01T00:00:00Z');
  expect(isByRival(before, entry({ 'f:memory': {} }, '2026-06-01T00:00:00Z'))).toBe(false);
  expect(isByRival(before, entry({ 'f:memory': {} }, '2026-06-01T00:01:00Z'))).toBe(true);
  expect(isByRival({}, entry({}, '2026-06-01T00:01:00Z', 'optipod'))).toBe(false);
});

test.each([
  [{ a: 1 }, { a: 1, b: 2 }, true],
  [{ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 2, d: 3 }, 4] } }, true],
  [{ a: undefined }, {}, true],
  [{ a: 1 }, { a: 2 }, false],
  [{ a: {} }, {}, false],
  [[1, 2], [1], false],
])('isPartOf %j of %j: %s', (part, whole, expected) => {
  expect(isPartOf(part, whole)).toBe(expected);
});

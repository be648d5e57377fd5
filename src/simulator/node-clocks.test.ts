import { expect, test } from 'vitest';
import type { KubeObject, Pod } from '../api/core.ts';
import type { KubeApi, WatchEvent } from '../api/kube-api.ts';
import { resources } from '../api/resources.ts';
import { tellByNodeClocks } from './node-clocks.ts';

const HOUR = 3_600_000;
const [elevenAm, noon, onePm] = ['2026-03-02T11:00:00Z', '2026-03-02T12:00:00Z', '2026-03-02T13:00:00Z'];

const podOn = (nodeName: string | undefined, time: string, scheduled = noon): Pod => ({
  metadata: { name: 'web-1', namespace: 'shop', creationTimestamp: noon as never },
  spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
  status: {
    phase: 'Running',
    startTime: time as never,
    conditions: [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: scheduled as never },
      { type: 'Ready', status: 'True', lastTransitionTime: time as never },
    ],
    containerStatuses: [
      {
        name: 'app',
        state: { running: { startedAt: time } },
        lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, startedAt: time, finishedAt: time } },
      } as never,
    ],
  },
});

/** Answers every question with these objects. */
function apiOf(objects: readonly KubeObject[]): KubeApi {
  const api = {
    get: async () => objects[0],
    list: async () => ({ items: objects, resourceVersion: '1' }),
    async listEach(_: unknown, __: unknown, onItem: (item: KubeObject) => void) {
      for (const object of objects) onItem(object);
      return { resourceVersion: '1' };
    },
    async *watch(): AsyncIterable<WatchEvent<KubeObject>> {
      for (const object of objects) yield { type: 'MODIFIED', object };
      yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: '2' } } };
    },
  };
  return tellByNodeClocks(api as unknown as KubeApi, (node) => ({ ahead: HOUR, behind: -HOUR })[node] ?? 0);
}

test.each<[string, Pod, Pod]>([
  ['is ahead', podOn('ahead', noon), podOn('ahead', onePm)],
  ['is behind', podOn('behind', noon), podOn('behind', elevenAm)],
  ['is right', podOn('right', noon), podOn('right', noon)],
  ['is not known yet', podOn(undefined, noon), podOn(undefined, noon)],
])('pods of a node whose clock %s are told by it, however they are asked for', async (_, pod, expected) => {
  const api = apiOf([pod]);
  const each: KubeObject[] = [];
  await api.listEach?.(resources.pods, {}, (item) => void each.push(item));
  const seen: unknown[] = [];
  for await (const event of api.watch(resources.pods)) if (event.type !== 'BOOKMARK') seen.push(event.object);
  const listed = (await api.list(resources.pods)).items;
  expect([await api.get(resources.pods, 'web-1'), ...listed, ...each, ...seen]).toEqual(Array(4).fill(expected));
  expect(pod.status?.startTime).toBe(noon);
});

test('what is no pod is told as it is', async () => {
  const node = { metadata: { name: 'ahead' }, spec: { nodeName: 'ahead' }, status: { startTime: noon } };
  expect(await apiOf([node]).get(resources.nodes, 'ahead')).toBe(node);
});

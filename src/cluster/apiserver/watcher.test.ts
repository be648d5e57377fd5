import { describe, expect, test } from 'vitest';
import type { WatchEvent } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { createTestServer, IN_DEFAULT, testPod } from './testing/test-server.ts';

describe('watches', () => {
  async function take<T>(iterator: AsyncIterator<WatchEvent<T>>, count: number): Promise<WatchEvent<T>[]> {
    const events: WatchEvent<T>[] = [];
    while (events.length < count) {
      const { done, value } = await iterator.next();
      if (done) break;
      events.push(value);
    }
    return events;
  }

  test('from a version: what came after, then what comes', async () => {
    const { api, server } = createTestServer();
    const a = await api.create(resources.pods, testPod('a'));
    await api.create(resources.pods, testPod('b'));
    const iterator = api
      .watch(resources.pods, { resourceVersion: a.metadata?.resourceVersion ?? '' })
      [Symbol.asyncIterator]();
    const [first] = await take(iterator, 1);
    expect(first).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } });
    await api.patch(resources.pods, 'b', { type: 'merge', body: { metadata: { labels: { app: 'z' } } } }, IN_DEFAULT);
    await api.delete(resources.pods, 'b', IN_DEFAULT);
    const rest = await take(iterator, 2);
    expect(rest.map((event) => event.type)).toEqual(['MODIFIED', 'DELETED']);
    await iterator.return?.();
    await server.close();
  });

  test('sendInitialEvents ends the state with an annotated bookmark', async () => {
    const { api, server } = createTestServer();
    await api.create(resources.pods, testPod('a'));
    const iterator = api.watch(resources.pods, { sendInitialEvents: true })[Symbol.asyncIterator]();
    const events = await take(iterator, 2);
    expect(events).toMatchObject([
      { type: 'ADDED', object: { metadata: { name: 'a' } } },
      {
        type: 'BOOKMARK',
        object: {
          metadata: {
            annotations: { 'k8s.io/initial-events-end': 'true' },
            resourceVersion: String(server.core.revision()),
          },
        },
      },
    ]);
    await server.close();
  });

  test('a compacted start gets an ERROR event with code 410, and the stream ends', async () => {
    const { api, server } = createTestServer();
    const a = await api.create(resources.pods, testPod('a'));
    await api.create(resources.pods, testPod('b'));
    server.core.compact();
    const events = await take(
      api.watch(resources.pods, { resourceVersion: a.metadata?.resourceVersion ?? '' })[Symbol.asyncIterator](),
      5,
    );
    expect(events).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  });

  test('an object entering or leaving the selection is added or deleted for this watch', async () => {
    const { api, server } = createTestServer();
    await api.create(resources.pods, testPod('a'));
    const iterator = api
      .watch(resources.pods, { labelSelector: 'app=x', sendInitialEvents: true })
      [Symbol.asyncIterator]();
    await take(iterator, 1);
    for (const app of ['x', 'y'])
      await api.patch(resources.pods, 'a', { type: 'merge', body: { metadata: { labels: { app } } } }, IN_DEFAULT);
    const events = await take(iterator, 2);
    expect(events).toMatchObject([
      { type: 'ADDED', object: { metadata: { labels: { app: 'x' } } } },
      {
        type: 'DELETED',
        object: { metadata: { labels: { app: 'x' }, resourceVersion: String(server.core.revision()) } },
      },
    ]);
    await server.close();
  });

  test('bookmarks come by the minute, and the timeout ends the stream without error', async () => {
    const { api, clock } = createTestServer();
    const iterator = api.watch(resources.pods, { timeoutSeconds: 90, sendInitialEvents: true })[Symbol.asyncIterator]();
    await take(iterator, 1);
    await clock.advance(61_000);
    expect(await take(iterator, 1)).toMatchObject([{ type: 'BOOKMARK' }]);
    await clock.advance(30_000);
    expect(await take(iterator, 1)).toEqual([]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('an aborted signal ends the watch', async () => {
    const { api, clock } = createTestServer();
    const controller = new AbortController();
    const iterator = api
      .watch(resources.pods, { sendInitialEvents: true, signal: controller.signal })
      [Symbol.asyncIterator]();
    await take(iterator, 1);
    const next = iterator.next();
    controller.abort(new Error('stop'));
    await expect(next).rejects.toThrow('stop');
    expect(clock.pendingTimers()).toBe(0);
  });
});

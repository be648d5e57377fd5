import { describe, expect, test } from 'vitest';
import type { WatchEvent } from '../../api/kube-api.ts';
import { isThrottled } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createTestServer, IN_DEFAULT, testPod } from '../apiserver/testing/test-server.ts';
import { ConnectionDropped } from './fault.ts';
import { createFaultPlan } from './fault-plan.ts';

async function take<T>(iterator: AsyncIterator<WatchEvent<T>>, count: number): Promise<WatchEvent<T>[]> {
  const events: WatchEvent<T>[] = [];
  while (events.length < count) {
    const { done, value } = await iterator.next();
    if (done) break;
    events.push(value);
  }
  return events;
}

const nameOf = (event: WatchEvent<{ metadata?: { name?: string } }>): string =>
  event.type === 'ERROR' || event.type === 'BOOKMARK' ? event.type : `${event.type} ${event.object.metadata?.name}`;

describe('fault plan', () => {
  const subject = { verb: 'get', resource: 'pods', subresource: '', user: 'alice', namespace: 'default' };

  test('tells of each request where faults may meet it, also where there are none', () => {
    const plan = createFaultPlan(createSeededRandom(1));
    const met: unknown[] = [];
    plan.onMeet((each) => met.push(each));
    plan.meet(subject, ['drop']);
    plan.add({ effect: { kind: 'drop' } });
    plan.meet(subject, ['status']);
    expect(met).toEqual([subject, subject]);
  });

  test.each([
    [{}, true],
    [{ verbs: ['list'] }, false],
    [{ resources: ['pods'] }, true],
    [{ resources: ['pods/eviction'] }, false],
    [{ users: ['bob'] }, false],
    [{ users: ['bob', 'ali*'] }, true],
    [{ users: ['alice*'] }, true],
    [{ users: ['alice-*'] }, false],
    [{ namespaces: ['default'], users: ['alice'], verbs: ['get', 'list'] }, true],
  ])('%o meets the request: %s', (matcher, met) => {
    const plan = createFaultPlan(createSeededRandom(1));
    const active = plan.add({ ...matcher, effect: { kind: 'drop' } });
    expect(plan.meet(subject, ['drop']).length).toBe(met ? 1 : 0);
    expect(active.met()).toBe(met ? 1 : 0);
  });

  test('counts are spent, chances are drawn from the given randomness', () => {
    const plan = createFaultPlan(createSeededRandom(7));
    plan.add({ count: 2, effect: { kind: 'drop' } });
    expect([1, 2, 3].map(() => plan.meet(subject, ['drop']).length)).toEqual([1, 1, 0]);
    expect(plan.active()).toEqual([]);
    const half = plan.add({ probability: 0.5, effect: { kind: 'drop' } });
    for (let index = 0; index < 200; index++) plan.meet(subject, ['drop']);
    expect(half.met()).toBeGreaterThan(70);
    expect(half.met()).toBeLessThan(130);
  });

  test('nonsense is refused', () => {
    const plan = createFaultPlan(createSeededRandom(1));
    expect(() => plan.add({ probability: 2, effect: { kind: 'drop' } })).toThrow(
      'fault probability must be in 0..1, got 2',
    );
    expect(() => plan.add({ count: 0, effect: { kind: 'drop' } })).toThrow('fault count must be at least 1, got 0');
  });
});

describe('faults of the in-process client', () => {
  test('drop: a transport error, and the write did not happen', async () => {
    const { server, api } = createTestServer();
    server.faults.add({ verbs: ['create'], count: 1, effect: { kind: 'drop' } });
    await expect(api.create(resources.pods, testPod('a'))).rejects.toThrow(ConnectionDropped);
    await expect(api.create(resources.pods, testPod('a'))).resolves.toBeDefined();
  });

  test('outage: requests break, and so do open watches of those it meets; afterwards all is as before', async () => {
    const { server, api } = createTestServer();
    const [mine, others] = [server.client({ user: 'alice' }), server.client({ user: 'bob' })].map((client) =>
      client.watch(resources.pods, { resourceVersion: '0' })[Symbol.asyncIterator](),
    );
    const broken = mine?.next();
    const unbroken = others?.next();
    await Promise.resolve();
    const outage = server.faults.add({ users: ['alice'], effect: { kind: 'outage' } });
    await expect(broken).rejects.toThrow(ConnectionDropped);
    await expect(server.client({ user: 'alice' }).list(resources.pods)).rejects.toThrow(ConnectionDropped);
    await api.create(resources.pods, testPod('a'));
    expect(await unbroken).toMatchObject({ value: { type: 'ADDED' } });
    outage.remove();
    expect((await server.client({ user: 'alice' }).list(resources.pods)).items).toHaveLength(1);
  });

  test('an outage has nothing to break of watches whose clients have gone', async () => {
    const { server } = createTestServer();
    const stop = new AbortController();
    const [aborted, left] = [{ signal: stop.signal }, {}].map((options) =>
      server
        .client()
        .watch(resources.pods, { resourceVersion: '0', ...options })
        [Symbol.asyncIterator](),
    );
    const waiting = aborted?.next();
    left?.next().catch(() => {});
    await Promise.resolve();
    const broken = (): number => {
      let asked = 0;
      // Of each watch that is open the fault is asked whether it meets its user.
      const users = Object.assign(['nobody'], { some: () => asked++ < 0 });
      server.faults.add({ users, effect: { kind: 'outage' } }).remove();
      return asked;
    };
    expect(broken()).toBe(2);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(broken()).toBe(1);
    await left?.return?.();
    expect(broken()).toBe(0);
  });

  test('drop-after: a transport error, but the write happened', async () => {
    const { server, api } = createTestServer();
    server.faults.add({ verbs: ['create'], count: 1, effect: { kind: 'drop-after' } });
    await expect(api.create(resources.pods, testPod('a'))).rejects.toThrow(ConnectionDropped);
    await expect(api.get(resources.pods, 'a', IN_DEFAULT)).resolves.toBeDefined();
  });

  test('twice: the second answer tells of the write that the first one did', async () => {
    const { server, api } = createTestServer();
    server.faults.add({ verbs: ['create', 'update'], effect: { kind: 'twice' } });
    await expect(api.create(resources.pods, testPod('a'))).rejects.toMatchObject({ reason: 'AlreadyExists' });
    const pod = await api.get(resources.pods, 'a', IN_DEFAULT);
    const labelled = { ...pod, metadata: { ...pod.metadata, labels: { app: 'b' } } };
    await expect(api.replace(resources.pods, labelled)).rejects.toMatchObject({ httpStatus: 409 });
    expect((await api.get(resources.pods, 'a', IN_DEFAULT)).metadata?.labels).toEqual({ app: 'b' });
    server.faults.clear();
    await expect(api.create(resources.pods, testPod('b'))).resolves.toBeDefined();
  });

  test.each([429, 503])('status %s with Retry-After', async (code) => {
    const { server, api } = createTestServer();
    server.faults.add({ effect: { kind: 'status', code, retryAfterSeconds: 3 } });
    const error = await api.list(resources.pods).catch((reason: unknown) => reason);
    expect(isThrottled(error)).toBe(true);
    expect(error).toMatchObject({ retryAfterMillis: 3_000 });
  });

  test('slow: the answer takes its time on the clock', async () => {
    const { server, api, clock } = createTestServer();
    server.faults.add({ effect: { kind: 'slow', millis: 5_000 } });
    let done = false;
    const listing = api.list(resources.pods).then(() => {
      done = true;
    });
    await clock.advance(4_999);
    expect(done).toBe(false);
    await clock.advance(1);
    await listing;
    expect(done).toBe(true);
  });

  test('freeze: only the caller can end it', async () => {
    const { server, api, clock } = createTestServer();
    server.faults.add({ effect: { kind: 'freeze' } });
    const stop = new AbortController();
    const listing = api.list(resources.pods, { signal: stop.signal });
    await clock.advance(3_600_000);
    stop.abort(new Error('enough'));
    await expect(listing).rejects.toThrow('enough');
    expect(clock.pendingTimers()).toBe(0);
  });

  test('stale reads see the past', async () => {
    const { server, api } = createTestServer();
    await api.create(resources.configMaps, { metadata: { name: 'c', namespace: 'default' }, data: { v: '1' } });
    await api.patch(resources.configMaps, 'c', { type: 'merge', body: { data: { v: '2' } } }, IN_DEFAULT);
    const fault = server.faults.add({ verbs: ['get', 'list'], effect: { kind: 'stale-reads', revisions: 1 } });
    expect((await api.get(resources.configMaps, 'c', IN_DEFAULT)).data).toEqual({ v: '1' });
    expect((await api.list(resources.configMaps, IN_DEFAULT)).items[0]?.data).toEqual({ v: '1' });
    fault.remove();
    expect((await api.get(resources.configMaps, 'c', IN_DEFAULT)).data).toEqual({ v: '2' });
  });

  test('expire-watch: 410 in the middle of the stream', async () => {
    const { server, api } = createTestServer();
    for (const name of ['a', 'b', 'c']) await api.create(resources.pods, testPod(name));
    server.faults.add({ verbs: ['watch'], effect: { kind: 'expire-watch', afterEvents: 2 } });
    const events = await take(api.watch(resources.pods, { sendInitialEvents: true })[Symbol.asyncIterator](), 9);
    expect(events.map(nameOf)).toEqual(['ADDED a', 'ADDED b', 'ERROR']);
    expect(events.at(-1)).toMatchObject({ object: { code: 410, reason: 'Expired' } });
  });

  test('cut-watch: the connection breaks', async () => {
    const { server, api, clock } = createTestServer();
    await api.create(resources.pods, testPod('a'));
    server.faults.add({ verbs: ['watch'], effect: { kind: 'cut-watch', afterEvents: 1 } });
    const iterator = api.watch(resources.pods, { sendInitialEvents: true })[Symbol.asyncIterator]();
    expect((await take(iterator, 1)).map(nameOf)).toEqual(['ADDED a']);
    await expect(iterator.next()).rejects.toThrow(ConnectionDropped);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('duplicate-events, and delay-events in order', async () => {
    const { server, api, clock } = createTestServer();
    server.faults.add({ verbs: ['watch'], count: 1, effect: { kind: 'duplicate-events' } });
    const twice = api
      .watch(resources.pods, { resourceVersion: String(server.core.revision()) })
      [Symbol.asyncIterator]();
    const first = twice.next();
    await clock.advance(0);
    server.faults.add({ verbs: ['watch'], count: 1, effect: { kind: 'delay-events', millis: 1_000 } });
    const late = api.watch(resources.pods, { resourceVersion: String(server.core.revision()) })[Symbol.asyncIterator]();
    let seen: string[] = [];
    const following = take(late, 2).then((events) => {
      seen = events.map(nameOf);
    });
    await clock.advance(0);
    for (const name of ['a', 'b']) await api.create(resources.pods, testPod(name));
    expect(
      [await first, ...(await take(twice, 3)).map((value) => ({ value }))].map(({ value }) => nameOf(value)),
    ).toEqual(['ADDED a', 'ADDED a', 'ADDED b', 'ADDED b']);
    expect(seen).toEqual([]);
    await clock.advance(1_000);
    await following;
    expect(seen).toEqual(['ADDED a', 'ADDED b']);
    await server.close();
  });

  test('delay-events ends with its fault, in order, for watches that go on', async () => {
    const { server, api, clock } = createTestServer();
    const fault = server.faults.add({ verbs: ['watch'], effect: { kind: 'delay-events', millis: 1_000 } });
    const watch = api.watch(resources.pods, { sendInitialEvents: false })[Symbol.asyncIterator]();
    const seen: string[] = [];
    const following = take(watch, 3).then((events) => void seen.push(...events.map(nameOf)));
    await clock.advance(0);
    await api.create(resources.pods, testPod('late'));
    fault.remove();
    await api.create(resources.pods, testPod('behind'));
    await clock.advance(1_000);
    await api.create(resources.pods, testPod('at-once'));
    await following;
    expect(seen).toEqual(['ADDED late', 'ADDED behind', 'ADDED at-once']);
    await server.close();
  });

  test('lose-bookmarks: none comes but the one that ends the initial events', async () => {
    const { server, api, clock } = createTestServer();
    await api.create(resources.pods, testPod('a'));
    server.faults.add({ verbs: ['watch'], effect: { kind: 'lose-bookmarks' } });
    const watch = api.watch(resources.pods, { sendInitialEvents: true })[Symbol.asyncIterator]();
    expect((await take(watch, 2)).map(nameOf)).toEqual(['ADDED a', 'BOOKMARK']);
    const next = watch.next();
    await clock.advance(10 * 60_000);
    await api.create(resources.pods, testPod('b'));
    expect(nameOf((await next).value)).toBe('ADDED b');
    await server.close();
  });

  test('reorder-events: the same events, in another order, before the next bookmark', async () => {
    const { server, api } = createTestServer();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await api.create(resources.pods, testPod(name));
    server.faults.add({ verbs: ['watch'], effect: { kind: 'reorder-events', window: 6 } });
    const events = (await take(api.watch(resources.pods, { sendInitialEvents: true })[Symbol.asyncIterator](), 7)).map(
      nameOf,
    );
    expect(events.at(-1)).toBe('BOOKMARK');
    expect(events.slice(0, -1)).not.toEqual(names.map((name) => `ADDED ${name}`));
    expect(events.slice(0, -1).toSorted()).toEqual(names.map((name) => `ADDED ${name}`));
    await server.close();
  });
});

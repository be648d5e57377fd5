import { describe, expect, test } from 'vitest';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createWorkQueue, type KeyHandler, type WorkQueueOptions } from './queue.ts';

function setUp(options: Partial<WorkQueueOptions> = {}) {
  const clock = createVirtualClock(0);
  const queue = createWorkQueue({
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    name: 'test',
    ...options,
  });
  const stop = new AbortController();
  return { clock, queue, stop, start: (handler: KeyHandler, workers = 1) => queue.run(workers, handler, stop.signal) };
}

/** A handler that notes its keys and ends when told. */
function controlled() {
  const started: string[] = [];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const handler: KeyHandler = (key) => {
    started.push(key);
    const work = Promise.withResolvers<void>();
    running.set(key, work);
    return work.promise;
  };
  return {
    started,
    handler,
    finish: (key: string) => running.get(key)?.resolve(),
    fail: (key: string) => running.get(key)?.reject(new Error('no')),
  };
}

describe('order and dedupe', () => {
  test('a key added many times before it runs, runs once', async () => {
    const { clock, queue, start, stop } = setUp();
    const work = controlled();
    for (let count = 0; count < 5; count++) queue.add('a');
    expect(queue.size).toBe(1);
    const running = start(work.handler);
    await clock.advance(0);
    work.finish('a');
    await clock.advance(0);
    expect(work.started).toEqual(['a']);
    stop.abort();
    await running;
  });

  test('a key added while it runs, runs once more afterwards, never beside itself', async () => {
    const { clock, queue, start, stop } = setUp();
    const work = controlled();
    const running = start(work.handler, 4);
    queue.add('a');
    await clock.advance(0);
    queue.add('a');
    queue.add('a');
    await clock.advance(0);
    expect(work.started).toEqual(['a']);
    work.finish('a');
    await clock.advance(0);
    expect(work.started).toEqual(['a', 'a']);
    work.finish('a');
    await clock.advance(0);
    expect([queue.size, queue.processing]).toEqual([0, 0]);
    stop.abort();
    await running;
  });

  test('first come, first served; a higher priority goes before, and lifts a key that waits already', async () => {
    const { clock, queue, start, stop } = setUp();
    const started: string[] = [];
    for (const key of ['a', 'b', 'c']) queue.add(key);
    queue.add('urgent', { priority: 10 });
    queue.add('c', { priority: 5 });
    queue.add('c', { priority: 1 });
    const running = start(async (key) => void started.push(key));
    await clock.advance(0);
    expect(started).toEqual(['urgent', 'c', 'a', 'b']);
    stop.abort();
    await running;
  });

  test('never more handlers at a time than workers', async () => {
    const { clock, queue, start, stop } = setUp();
    const work = controlled();
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    const running = start(work.handler, 2);
    await clock.advance(0);
    expect(work.started).toEqual(['a', 'b']);
    expect(queue.processing).toBe(2);
    work.finish('b');
    await clock.advance(0);
    expect(work.started).toEqual(['a', 'b', 'c']);
    for (const key of ['a', 'c']) work.finish(key);
    stop.abort();
    await running;
    expect(work.started).toEqual(['a', 'b', 'c']);
  });
});

describe('delays', () => {
  test('the earlier of two times wins, in both orders, and runs once', async () => {
    const { clock, queue, start, stop } = setUp();
    const at: number[] = [];
    const running = start(async () => void at.push(clock.now()));
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 200);
    queue.addAfter('a', 5_000);
    expect(queue.delayed).toBe(1);
    await clock.advance(10_000);
    expect(at).toEqual([200]);
    stop.abort();
    await running;
  });

  test('a handler asks to be called again', async () => {
    const { clock, queue, start, stop } = setUp();
    const at: number[] = [];
    const running = start(async () => {
      at.push(clock.now());
      return { requeueAfterMillis: 500 };
    });
    queue.add('a');
    await clock.advance(1_100);
    expect(at).toEqual([0, 500, 1_000]);
    stop.abort();
    await running;
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a handler that asks to be called again at once is called again after a while', async () => {
    const { clock, queue, start, stop } = setUp();
    const at: number[] = [];
    const running = start(async () => {
      at.push(clock.now());
      return at.length < 4 ? { requeueAfterMillis: 0 } : undefined;
    });
    queue.add('a');
    await clock.advance(1_000);
    expect(at).toEqual([0, 100, 200, 300]);
    stop.abort();
    await running;
  });

  test('failures of one key wait 5 ms, doubling to 1,000 s; success forgets them', async () => {
    const { clock, queue, start, stop } = setUp();
    const at: number[] = [];
    let isFailing = true;
    const running = start(async () => {
      at.push(clock.now());
      if (isFailing) throw new Error('no');
    });
    queue.add('a');
    await clock.advance(5 * (1 + 2 + 4 + 8));
    expect(at).toEqual([0, 5, 15, 35, 75]);
    expect(queue.failures('a')).toBe(5);
    await clock.advance(10_000_000);
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(Math.max(...gaps)).toBe(1_000_000);
    isFailing = false;
    await clock.advance(1_000_000);
    expect(queue.failures('a')).toBe(0);
    stop.abort();
    await running;
  });

  test('how long a key has failed is known until it succeeds: of several the longest', async () => {
    const { clock, queue, start, stop } = setUp();
    const failing = new Set(['a', 'b']);
    const running = start(async (key) => {
      if (failing.has(key)) throw new Error('no');
    });
    expect(queue.failingSince()).toBeUndefined();
    const began = clock.now();
    queue.add('a');
    await clock.advance(1_000);
    queue.add('b');
    queue.add('c');
    await clock.advance(100_000);
    expect(queue.failingSince()).toBe(began);
    failing.delete('a');
    await clock.advance(1_000_000);
    expect(queue.failingSince()).toBe(began + 1_000);
    queue.forget('b');
    expect(queue.failingSince()).toBeUndefined();
    stop.abort();
    await running;
  });

  test('over all keys, after a burst of 100 retries only 10 a second', async () => {
    const { clock, queue } = setUp();
    for (let key = 0; key < 200; key++) queue.addRateLimited(`key-${key}`);
    await clock.advance(6);
    expect(queue.size).toBe(100);
    await clock.advance(994);
    expect(queue.size).toBe(110);
    await clock.advance(9_000);
    expect(queue.size).toBe(200);
  });

  test('a machine clock set back by an hour does not hold up retries for an hour', async () => {
    const virtual = createVirtualClock(86_400_000);
    let offset = 0;
    const { queue } = setUp({ clock: { ...virtual, now: () => virtual.now() + offset } });
    queue.addRateLimited('before');
    offset = -3_600_000;
    queue.addRateLimited('after');
    await virtual.advance(1_000);
    expect(queue.size).toBe(2);
  });

  test('forget starts the backoff of a key anew', () => {
    const { queue } = setUp();
    queue.addRateLimited('a');
    queue.addRateLimited('a');
    queue.forget('a');
    expect(queue.failures('a')).toBe(0);
  });
});

describe('stopping', () => {
  test('no new key is taken, running ones are waited for, timers are cleared', async () => {
    const { clock, queue, start, stop } = setUp();
    const work = controlled();
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 100);
    const running = start(work.handler);
    let hasEnded = false;
    void running.then(() => {
      hasEnded = true;
    });
    await clock.advance(0);
    stop.abort();
    await clock.advance(1_000);
    expect(hasEnded).toBe(false);
    work.finish('a');
    await running;
    expect(work.started).toEqual(['a']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a failure while stopping schedules nothing', async () => {
    const { clock, queue, start, stop } = setUp();
    const work = controlled();
    queue.add('a');
    const running = start(work.handler);
    await clock.advance(0);
    stop.abort();
    work.fail('a');
    await running;
    expect([queue.delayed, clock.pendingTimers()]).toEqual([0, 0]);
  });

  test.each([0, -1, 1.5, Number.NaN])('%d workers are refused with a message', async (workers) => {
    const { queue, stop } = setUp();
    await expect(queue.run(workers, async () => {}, stop.signal)).rejects.toThrow(/at least 1 worker/);
  });

  test('two runs at once are refused', async () => {
    const { start, stop } = setUp();
    const running = start(async () => {});
    await expect(start(async () => {})).rejects.toThrow(/running already/);
    stop.abort();
    await running;
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createSchedulingQueue } from './scheduling-queue.ts';

const pod = (uid: string, priority = 0, createdSecond = 0, more: object = {}): Pod => ({
  metadata: { uid, creationTimestamp: new Date(createdSecond * 1000).toISOString() },
  spec: { containers: [], priority, ...more },
});

function startQueue() {
  const clock = createVirtualClock(0);
  const state = { wakes: 0 };
  const queue = createSchedulingQueue(clock, () => {
    state.wakes++;
  });
  const drain = (): string[] => {
    const order: string[] = [];
    for (let uid = queue.pop(); uid !== undefined; uid = queue.pop()) order.push(uid);
    return order;
  };
  return { clock, queue, state, drain };
}

describe('the scheduling queue', () => {
  test('gives the highest priority first, then the oldest, then the first to arrive', () => {
    const { queue, drain } = startQueue();
    for (const each of [pod('young', 0, 9), pod('old', 0, 1), pod('first', 5, 3), pod('second', 5, 3)]) queue.add(each);
    expect(drain()).toEqual(['first', 'second', 'old', 'young']);
  });

  test('knows the two system classes where the server has not resolved them', () => {
    const { queue, drain } = startQueue();
    const critical = { ...pod('critical'), spec: { containers: [], priorityClassName: 'system-node-critical' } };
    queue.add(pod('important', 1_000_000));
    queue.add(critical);
    expect(drain()).toEqual(['critical', 'important']);
  });

  test('lets a parked pod wait until something changes, and at least its backoff', async () => {
    const { clock, queue, state, drain } = startQueue();
    queue.add(pod('a'));
    expect(drain()).toEqual(['a']);
    queue.park('a');
    await clock.advance(60_000);
    expect(drain()).toEqual([]);
    const before = state.wakes;
    queue.wakeAll();
    expect(state.wakes).toBe(before + 1);
    expect(drain()).toEqual(['a']);
    queue.park('a');
    queue.wakeAll();
    await clock.advance(1000);
    expect(drain()).toEqual([]);
    await clock.advance(1000);
    expect(drain()).toEqual(['a']);
  });

  test('doubles the backoff up to ten seconds', async () => {
    const { clock, queue, drain } = startQueue();
    queue.add(pod('a'));
    expect(drain()).toEqual(['a']);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++) {
      queue.park('a');
      queue.wakeAll();
      let seconds = 0;
      do {
        await clock.advance(1000);
        seconds++;
      } while (drain().length === 0 && seconds < 20);
      waits.push(seconds);
    }
    expect(waits).toEqual([1, 2, 4, 8, 10, 10, 10]);
  });

  test('tries a parked pod again after five minutes even if nothing seemed to change', async () => {
    const { clock, queue, drain } = startQueue();
    queue.add(pod('a'));
    drain();
    queue.park('a');
    await clock.advance(299_000);
    expect(drain()).toEqual([]);
    await clock.advance(1000);
    expect(drain()).toEqual(['a']);
  });

  test('tries a parked pod again when it changes', async () => {
    const { clock, queue, drain } = startQueue();
    queue.add(pod('a'));
    drain();
    queue.park('a');
    queue.add(pod('a', 1));
    await clock.advance(1000);
    expect(drain()).toEqual(['a']);
  });

  test('takes pods whose backoff ends in the same round by priority', async () => {
    const { clock, queue, drain } = startQueue();
    await clock.advance(100);
    queue.add(pod('low', 1));
    drain();
    queue.park('low');
    await clock.advance(200);
    queue.add(pod('high', 2));
    drain();
    queue.park('high');
    queue.wakeAll();
    await clock.advance(1700);
    expect(drain()).toEqual(['high', 'low']);
  });

  test('gives a pod that left and came back only once', () => {
    const { queue, drain } = startQueue();
    queue.add(pod('a'));
    queue.remove('a');
    queue.add(pod('a'));
    expect(drain()).toEqual(['a']);
  });

  test('forgets pods that are gone, and cancels its timers', async () => {
    const { clock, queue, drain } = startQueue();
    queue.add(pod('a'));
    queue.add(pod('b'));
    queue.remove('a');
    expect(drain()).toEqual(['b']);
    queue.park('b');
    queue.close();
    expect(clock.pendingTimers()).toBe(0);
  });

  test('for any arrivals gives pods in order', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 40 }), (arrivals) => {
        const { queue, drain } = startQueue();
        for (const [index, [priority, second]] of arrivals.entries()) queue.add(pod(`p${index}`, priority, second));
        const expected = arrivals
          .map(([priority, second], index) => ({ priority, second, index }))
          .sort(
            (left, right) => right.priority - left.priority || left.second - right.second || left.index - right.index,
          )
          .map(({ index }) => `p${index}`);
        expect(drain()).toEqual(expected);
      }),
    );
  });
});

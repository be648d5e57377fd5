import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { uidOf } from '../objects.ts';
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
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) order.push(uidOf(next));
    return order;
  };
  return { clock, queue, state, drain };
}

describe('the scheduling queue', () => {
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

  test('lets pods of one moment arrive before parked ones are tried again, once for all that happened in it', async () => {
    const { clock, queue, drain } = startQueue();
    queue.add(pod('parked'));
    drain();
    queue.park('parked');
    await clock.advance(5000);
    queue.wakeAllSoon();
    queue.wakeAllSoon();
    queue.add(pod('daemon', 1));
    expect(clock.pendingTimers()).toBe(2);
    await clock.advance(1);
    expect(drain()).toEqual(['daemon', 'parked']);
    queue.park('parked');
    queue.wakeAllSoon();
    queue.close();
    expect(clock.pendingTimers()).toBe(0);
  });

  test('gives a pod as it was added last', () => {
    const { queue } = startQueue();
    queue.add(pod('a', 0, 0, { nodeSelector: { pool: 'old' } }));
    queue.add(pod('a', 0, 0, { nodeSelector: { pool: 'new' } }));
    expect(queue.pop()?.spec?.nodeSelector).toEqual({ pool: 'new' });
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
});

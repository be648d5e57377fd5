import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSemaphore } from './semaphore.ts';

const never = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('createSemaphore', () => {
  test('waits in order of arrival, and each permit can be given back only once', async () => {
    const semaphore = createSemaphore(1);
    const release = await semaphore.acquire(never);
    const order: string[] = [];
    const second = semaphore.acquire(never).then((give) => {
      order.push('second');
      return give;
    });
    void semaphore.acquire(never).then(() => order.push('third'));
    expect(semaphore.waiting).toBe(2);
    release();
    release();
    (await second)();
    await settle();
    expect(order).toEqual(['second', 'third']);
    expect(semaphore.inUse).toBe(1);
  });

  test('a greater limit lets waiters in at once, a smaller one takes effect as permits come back', async () => {
    const semaphore = createSemaphore(1);
    const permits = [await semaphore.acquire(never)];
    for (let count = 0; count < 3; count++) void semaphore.acquire(never).then((give) => permits.push(give));
    semaphore.setLimit(3);
    await settle();
    expect([semaphore.inUse, semaphore.waiting]).toEqual([3, 1]);
    semaphore.setLimit(1);
    permits[0]?.();
    permits[1]?.();
    await settle();
    expect([semaphore.inUse, semaphore.waiting]).toEqual([1, 1]);
    permits[2]?.();
    await settle();
    expect([semaphore.inUse, semaphore.waiting]).toEqual([1, 0]);
  });

  test('failing rejects those who wait and those who come later', async () => {
    const semaphore = createSemaphore(0);
    const waiting = semaphore.acquire(never);
    semaphore.fail(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(semaphore.acquire(never)).rejects.toThrow('gone');
  });

  test('for any order of taking, giving back and aborting, never more permits than the limit, and none is lost', async () => {
    const action = fc.constantFrom('take' as const, 'give' as const, 'abort' as const);
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), async (actions, limit) => {
        const semaphore = createSemaphore(limit);
        const held: (() => void)[] = [];
        const stops: AbortController[] = [];
        for (const next of actions) {
          if (next === 'take') {
            const stop = new AbortController();
            stops.push(stop);
            semaphore.acquire(stop.signal).then(
              (give) => held.push(give),
              () => {},
            );
          } else if (next === 'give') held.shift()?.();
          else stops.shift()?.abort(new Error('x'));
          expect(semaphore.inUse).toBeLessThanOrEqual(limit);
          await Promise.resolve();
        }
        await settle();
        for (let give = held.shift(); give !== undefined || semaphore.waiting > 0; give = held.shift()) {
          give?.();
          await settle();
        }
        expect([semaphore.inUse, semaphore.waiting]).toEqual([0, 0]);
      }),
      { numRuns: 60 },
    );
  });
});

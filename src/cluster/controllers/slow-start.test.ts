import { describe, expect, test } from 'vitest';
import { slowStartBatch } from './slow-start.ts';

describe('slowStartBatch', () => {
  test('runs in batches of 1, 2, 4, 8 and the rest', async () => {
    const batches: number[] = [];
    let running = 0;
    await slowStartBatch(20, async () => {
      running++;
      await Promise.resolve();
      if (running > 0) {
        batches.push(running);
        running = 0;
      }
    });
    expect(batches).toEqual([1, 2, 4, 8, 5]);
  });

  test.each([
    [0, 1, 0],
    [1, 3, 2],
    [5, 7, 6],
  ])('stops after the batch in which call %i fails: %i calls, %i successes', async (failing, calls, successes) => {
    const called: number[] = [];
    const result = await slowStartBatch(100, async (index) => {
      called.push(index);
      if (index === failing) throw new Error('refused');
    });
    expect(called).toHaveLength(calls);
    expect(result.succeeded).toBe(successes);
    expect(result.error).toEqual(new Error('refused'));
  });

  test('does nothing for nothing', async () => {
    expect(await slowStartBatch(0, () => Promise.reject(new Error('called')))).toEqual({
      succeeded: 0,
      error: undefined,
    });
  });
});

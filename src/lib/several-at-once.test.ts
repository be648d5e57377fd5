import { describe, expect, test } from 'vitest';
import { severalAtOnce } from './several-at-once.ts';

function counting(fails: (item: number) => boolean = () => false) {
  const done: number[] = [];
  let [underWay, mostUnderWay] = [0, 0];
  return {
    done,
    underWay: () => underWay,
    mostUnderWay: () => mostUnderWay,
    async work(item: number): Promise<void> {
      mostUnderWay = Math.max(mostUnderWay, ++underWay);
      for (let turn = 0; turn < item; turn++) await Promise.resolve();
      underWay--;
      if (fails(item)) throw new Error(`no ${item}`);
      done.push(item);
    },
  };
}

describe('severalAtOnce', () => {
  test.each([
    [1, 1],
    [3, 3],
    [9, 5],
  ])('at most %d at a time', async (most, seen) => {
    const { work, done, mostUnderWay } = counting();
    await severalAtOnce([5, 4, 3, 2, 1], most, work);
    expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    expect(mostUnderWay()).toBe(seen);
  });

  test('once one has failed no other begins, and it is told when nothing is under way', async () => {
    const { work, done, underWay } = counting((item) => item === 2);
    await expect(severalAtOnce([8, 2, 6, 7], 2, work)).rejects.toThrow('no 2');
    expect([done, underWay()]).toEqual([[8], 0]);
  });

  test('of nothing nothing comes', async () => {
    await severalAtOnce([], 4, () => Promise.reject(new Error('no')));
  });
});

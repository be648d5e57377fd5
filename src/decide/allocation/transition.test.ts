import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextWrites, type Transit } from './transition.ts';

const pod = (uid: string, charged: number, desired: number): Transit => ({ uid, charged, desired });

describe('decreases before raises', () => {
  test.each<[string, readonly Transit[], number, readonly string[], readonly string[]]>([
    ['a raise waits for what pays for it', [pod('a', 400, 600), pod('b', 600, 400)], 1000, ['b'], ['a']],
    ['confirmed: now it goes', [pod('a', 400, 600), pod('b', 400, 400)], 1000, ['a'], []],
    [
      'what is free is used at once, the smallest raise first',
      [pod('a', 400, 600), pod('b', 400, 450)],
      900,
      ['b'],
      ['a'],
    ],
    ['nothing to do', [pod('a', 400, 400)], 1000, [], []],
    ['more charged than there is: only decreases', [pod('a', 800, 700), pod('b', 400, 410)], 1000, ['a'], ['b']],
  ])('%s', (_name, pods, capacity, writes, waiting) => {
    expect(nextWrites(pods, capacity)).toEqual({ writes, waiting });
  });

  test('P16: at every prefix of the writes, and whatever is confirmed when, charges stay within the capacity', () => {
    const amount = fc.integer({ min: 10, max: 500 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(amount, amount, fc.boolean()), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 9 }),
        (rows, slow) => {
          const total = (key: 0 | 1): number => rows.reduce((sum, row) => sum + row[key], 0);
          const capacity = Math.max(total(0), total(1));
          const spec = rows.map(([before]) => before);
          const actual = [...spec];
          for (let round = 0; round < 30; round++) {
            const pods = rows.map(([, desired], index) =>
              pod(String(index), Math.max(spec[index] ?? 0, actual[index] ?? 0), desired),
            );
            for (const uid of nextWrites(pods, capacity).writes) {
              spec[Number(uid)] = rows[Number(uid)]?.[1] ?? 0;
              const charged = spec.reduce((sum, value, index) => sum + Math.max(value, actual[index] ?? 0), 0);
              expect(charged).toBeLessThanOrEqual(capacity);
            }
            // The kubelet of some pods takes several rounds.
            rows.forEach(([, , isSlow], index) => {
              if (!isSlow || round % (slow + 1) === slow) actual[index] = spec[index] ?? 0;
            });
          }
          expect(actual).toEqual(rows.map(([, desired]) => desired));
        },
      ),
      { numRuns: 1500 },
    );
  });
});

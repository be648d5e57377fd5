import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kalaiSmorodinsky } from './kalai-smorodinsky.ts';
import type { Bid } from './problem.ts';
import { filledInstance } from './testing/instances.ts';

const bids = (...rows: readonly (readonly [min: number, max: number])[]): Bid[] =>
  rows.map(([min, max], index) => ({ uid: `pod-${index}`, weight: 1, min, max }));

describe('Kalai-Smorodinsky', () => {
  test.each([
    ['both ideals fit', 1000, bids([200, 500], [200, 500]), [500, 500]],
    ['half of the way', 700, bids([200, 500], [200, 500]), [350, 350]],
    ['different claims and ideals', 1000, bids([200, 800], [100, 900]), [500, 500]],
    ['claims that do not fit scale down', 300, bids([200, 800], [400, 900]), [100, 200]],
    ['an endless want is the node', 1000, bids([0, Number.POSITIVE_INFINITY], [0, 1000]), [500, 500]],
    ['nobody', 1000, [], []],
  ])('%s', (_name, capacity, given, shares) => {
    const found = kalaiSmorodinsky({ capacity, bids: given });
    shares.forEach((share, index) => {
      expect(found[index]).toBeCloseTo(share, 9);
    });
  });

  test('for any problem: within capacity, and everybody goes the same part of its way', () => {
    fc.assert(
      fc.property(filledInstance, ({ capacity, bids: given }) => {
        const found = kalaiSmorodinsky({ capacity, bids: given });
        const claims = given.reduce((sum, { min }) => sum + min, 0);
        expect(found.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(capacity + 1e-6);
        if (claims > capacity) return;
        const parts = given.flatMap(({ min, max }, index) => {
          const way = Math.max(min, Math.min(max, capacity)) - min;
          return way === 0 ? [] : [((found[index] ?? 0) - min) / way];
        });
        expect(Math.max(...parts, 0) - Math.min(...parts, 1)).toBeLessThanOrEqual(1e-9);
      }),
    );
  });
});

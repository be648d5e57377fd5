import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../lib/random.ts';
import { createDice } from './dice.ts';

describe('dice', () => {
  const dice = createDice(createSeededRandom(1));
  const draw = (one: () => number): number[] => Array.from({ length: 2000 }, one);
  const meanOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

  test('between stays within', () => {
    const drawn = draw(() => dice.between(3, 5));
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(3);
    expect(Math.max(...drawn)).toBeLessThan(5);
    expect(meanOf(drawn)).toBeCloseTo(4, 1);
  });

  test('once in ten is a tenth of the time', () => {
    expect(meanOf(draw(() => (dice.onceIn(10) ? 1 : 0)))).toBeCloseTo(0.1, 1);
  });

  test('normal numbers have mean 0 and deviation 1', () => {
    const drawn = draw(() => dice.normal());
    expect(Math.abs(meanOf(drawn))).toBeLessThan(0.1);
    expect(Math.abs(meanOf(drawn.map((each) => each ** 2)) - 1)).toBeLessThan(0.15);
  });
});

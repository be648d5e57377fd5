import { describe, expect, test } from 'vitest';
import { type Columns, pick, waterFill } from './water-fill.ts';

const columns = (...rows: readonly (readonly [w: number, d: number, l: number, u: number])[]): Columns => {
  const column = (key: 0 | 1 | 2 | 3): Float64Array => Float64Array.from(rows, (row) => row[key]);
  return { weight: column(0), disagreement: column(1), lower: column(2), upper: column(3) };
};

describe('the level at which the sum meets the capacity', () => {
  test.each<[string, Columns, number, readonly number[], number]>([
    ['between bounds', columns([1, 0, 0, 1000], [3, 0, 0, 1000]), 400, [100, 300], 100],
    ['one at its upper bound', columns([1, 0, 0, 50], [3, 0, 0, 1000]), 400, [50, 350], 350 / 3],
    ['one still at its lower bound', columns([1, 0, 200, 1000], [3, 0, 0, 1000]), 400, [200, 200], 200 / 3],
    ['a lower bound above the disagreement point', columns([1, 100, 300, 1000], [1, 0, 0, 1000]), 600, [350, 250], 250],
    ['only the lower bounds', columns([1, 0, 200, 1000], [3, 0, 100, 1000]), 300, [200, 100], 100 / 3],
    ['all sated', columns([1, 0, 0, 100], [1, 0, 0, 100]), 300, [100, 100], Number.POSITIVE_INFINITY],
    ['just sated', columns([1, 0, 0, 100], [1, 0, 0, 100]), 200, [100, 100], Number.POSITIVE_INFINITY],
    ['nobody', columns(), 300, [], Number.POSITIVE_INFINITY],
    ['weights far apart', columns([1e-6, 0, 0, 1000], [1e6, 0, 0, 1000]), 500, [0, 500], 5e-4],
    [
      'nothing to give, nothing to take',
      columns([1, 100, 100, 100], [1, 50, 50, 50]),
      150,
      [100, 50],
      Number.POSITIVE_INFINITY,
    ],
  ])('%s', (_name, given, capacity, x, level) => {
    const found = waterFill(given, capacity);
    expect([...found.x].map((value) => Math.round(value * 1e6) / 1e6)).toEqual(
      [...x].map((value) => Math.round(value * 1e6) / 1e6),
    );
    if (Number.isFinite(level)) expect(found.level).toBeCloseTo(level, 9);
    else expect(found.level).toBe(level);
  });

  test('weight 0 shares equally what the sated leave, within bounds', () => {
    expect([...waterFill(columns([1, 0, 0, 100], [0, 0, 0, 150], [0, 0, 0, 900]), 700).x]).toEqual([100, 150, 450]);
  });
});

test('some rows of all columns, with weights of their own or one for all', () => {
  const picked = pick(columns([1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]), [2, 0]);
  expect([picked.weight, picked.disagreement, picked.lower, picked.upper].map((column) => [...column])).toEqual([
    [9, 1],
    [10, 2],
    [11, 3],
    [12, 4],
  ]);
  expect([...pick(picked, [0, 1], 1).weight]).toEqual([1, 1]);
});

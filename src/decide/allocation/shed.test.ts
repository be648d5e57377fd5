import { describe, expect, test } from 'vitest';
import { shed } from './shed.ts';
import type { Columns } from './water-fill.ts';

const claims = (...rows: readonly (readonly [weight: number, claim: number])[]): Columns => {
  const lower = Float64Array.from(rows, ([, claim]) => claim);
  return {
    weight: Float64Array.from(rows, ([weight]) => weight),
    disagreement: lower,
    lower,
    upper: lower.map((claim) => 2 * claim),
  };
};
const floors = (...values: number[]): Float64Array => Float64Array.from(values);

describe('claims that do not fit', () => {
  test('by weight, nobody above its claim', () => {
    const { filled, overcommitted } = shed(claims([1, 200], [3, 200]), floors(10, 10), undefined, 300);
    expect([[...filled.x], overcommitted]).toEqual([[100, 200], false]);
  });

  test('the floor is kept', () => {
    expect([...shed(claims([1, 200], [1000, 500]), floors(10, 10), undefined, 400).filled.x]).toEqual([10, 390]);
  });

  test('continuous where they just fit', () => {
    expect([...shed(claims([1, 200], [1000, 500]), floors(10, 10), undefined, 700).filled.x]).toEqual([200, 500]);
  });

  test('not even floors fit: given all the same, and told', () => {
    const { filled, overcommitted } = shed(claims([1, 200], [1, 200]), floors(10, 10), undefined, 15);
    expect([[...filled.x], overcommitted, filled.level]).toEqual([[10, 10], true, 0]);
  });

  test('by tier: the highest first', () => {
    const { filled } = shed(claims([1, 200], [1, 200], [1, 200]), floors(10, 10, 10), Float64Array.of(0, 2, 1), 330);
    expect([...filled.x]).toEqual([10, 200, 120]);
  });
});

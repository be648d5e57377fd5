import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSystemCritical, priorityFactor, priorityWeight } from './priority-class.ts';

describe('the default curve', () => {
  test.each([
    [-(2 ** 31), 0.116],
    [-1000, 0.5],
    [0, 1],
    [100, 1.588],
    [1000, 2],
    [1_000_000, 4],
    [1_000_000_000, 8],
  ])('integration 1: priority %d weighs %d', (priority, weight) => {
    expect(priorityWeight(priority, 'log')).toBeCloseTo(weight, 2);
  });
});

describe('the anchored curve', () => {
  test.each([
    [-2_000_000_000, 0.25],
    [-1_000_000_000, 0.25],
    [-100, 0.773],
    [-1, 0.9],
    [0, 1],
    [500, 1],
    [1000, 1],
    [1500, 1.292],
    [2000, 1.5],
    [5000, 1.785],
    [10_000, 2],
    [100_000, 2.5],
    [1_000_000, 3],
    [2_000_000_000, 4],
    [2_000_001_000, 4],
  ])('integration 1: priority %d weighs %d', (priority, weight) => {
    expect(priorityWeight(priority, 'anchors')).toBeCloseTo(weight, 3);
  });
});

describe('the legacy curve', () => {
  test.each([
    [-5000, 1],
    [0, 1],
    [1000, 1.1],
    [2000, 1.2],
    [90_000, 10],
    [1_000_000, 10],
  ])('integration 1: priority %d weighs %d', (priority, weight) => {
    expect(priorityWeight(priority, 'legacy')).toBeCloseTo(weight, 9);
  });
});

test('integration 1: for any two priorities, the higher never weighs less, and all weights are within bounds', () => {
  const priority = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  fc.assert(
    fc.property(priority, priority, fc.constantFrom('log', 'anchors', 'legacy', 'none'), (a, b, curve) => {
      const [low, high] = [priorityWeight(Math.min(a, b), curve), priorityWeight(Math.max(a, b), curve)];
      expect(low).toBeLessThanOrEqual(high + 1e-12);
      expect(low).toBeGreaterThan(0.1);
      expect(high).toBeLessThanOrEqual(10);
    }),
    { numRuns: 1000 },
  );
});

test('integration 1: without a curve priority says nothing', () => {
  expect(priorityWeight(1_000_000, 'none')).toBe(1);
});

describe('the annotation', () => {
  test('integration 1: a tenant can lower its pods', () => {
    expect(priorityFactor(0, 'log', 0.5, false)).toEqual({ factor: 0.5, clamps: [] });
  });

  test('integration 1: but not raise them above their class, nor to nothing, and is told so', () => {
    expect(priorityFactor(0, 'log', 5, false)).toEqual({
      factor: 1,
      clamps: [{ reason: 'PriorityClass', what: 'weight', before: 5, after: 1 }],
    });
    expect(priorityFactor(0, 'log', 0.01, false).factor).toBe(0.1);
  });

  test('integration 1: a trusted namespace may', () => {
    expect(priorityFactor(0, 'log', 5, true).factor).toBe(5);
    expect(priorityFactor(0, 'log', 1e308, true)).toEqual({
      factor: 64,
      clamps: [{ reason: 'PriorityClass', what: 'weight', before: 1e308, after: 64 }],
    });
  });

  test('integration 1: no annotation: the class', () => {
    expect(priorityFactor(1000, 'log', undefined, false).factor).toBeCloseTo(2, 3);
  });
});

test('integration 1: system-cluster-critical and above are left out of the bargain', () => {
  expect([1_000_000_000, 1_999_999_999, 2_000_000_000, 2_000_001_000].map(isSystemCritical)).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

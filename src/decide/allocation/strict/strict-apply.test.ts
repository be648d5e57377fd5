import { describe, expect, test } from 'vitest';
import { strictFastStep, strictRequest, strictStep } from './strict-apply.ts';

const rules = { minChangePercent: 2 };

/** The limits a pod is given one write after the other. */
function trajectory(start: number, target: number, writes: number): number[] {
  const limits = [start];
  for (let write = 0; write < writes; write++) {
    const current = limits.at(-1) ?? start;
    limits.push(strictStep(current, target, 20_000, rules) ?? current);
  }
  return limits;
}

describe('the recorded trajectories', () => {
  test('an idle pod falls from 1001m to 20m', () => {
    expect(trajectory(1001, 20, 6)).toEqual([1001, 314, 108, 46, 27, 22, 20]);
  });

  test('mbcas bug 11: after ten writes a step from 500m to 2000m has got to 1474m', () => {
    expect(trajectory(500, 2000, 10).at(-1)).toBe(1474);
  });

  test('changes below the percentage are not written', () => {
    expect(strictStep(1000, 1010, 20_000, { minChangePercent: 5 })).toBeUndefined();
    expect(strictStep(1000, 2000, 20_000, { minChangePercent: 5 })).toBe(1100);
  });

  test('floor, ceiling and three quarters of the node', () => {
    expect(strictStep(12, 1, 20_000, rules)).toBe(10);
    expect(strictStep(10_000, 90_000, 8000, { minChangePercent: 0 })).toBe(6000);
  });

  test('the request is nine tenths of the limit', () => {
    expect([strictRequest(500), strictRequest(10), strictRequest(1001)]).toEqual([450, 10, 900]);
  });
});

describe('the fast loop as shipped', () => {
  test('mbcas bug 2: a throttled pod of 2000m is cut to 140m, as 100m is taken for what it has', () => {
    expect(strictFastStep(undefined, 2000, 1, 4000)).toBe(140);
  });

  test('mbcas bug 1: a raise is capped at the present limit, so it raises nothing', () => {
    const limits = [140];
    for (let step = 0; step < 3; step++) limits.push(strictFastStep(limits.at(-1), limits.at(-1) ?? 0, 1, 4000));
    expect(limits).toEqual([140, 140, 140, 140]);
  });
});

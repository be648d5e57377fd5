import { describe, expect, test } from 'vitest';
import { isOutdated, toldFigures } from './told-figures.ts';

const decision = {
  mode: 'congested',
  cpuUsage: '400m',
  claim: '100m',
  clamps: [{ reason: 'LimitRange', message: 'LimitRange: max 900m -> 620m' }],
} as const;
const told = toldFigures(decision);

describe('figures are out of date', () => {
  test.each([
    ['where the node is as full as before no longer', { ...decision, mode: 'overloaded' as const }, true],
    ['where another rule binds', { ...decision, clamps: [{ reason: 'QuotaCap' }] }, true],
    ['where no rule binds any more', { ...decision, clamps: [] }, true],
    ['where use has risen by a quarter', { ...decision, cpuUsage: '500m' }, true],
    ['where use has fallen by a quarter', { ...decision, cpuUsage: '300m' }, true],
    ['not for less', { ...decision, cpuUsage: '499m' }, false],
    ['not for other bounds and sentences', { ...decision, claim: '150m', clamps: [{ reason: 'LimitRange' }] }, false],
  ])('%s', (_, now, expected) => {
    expect(isOutdated(told, toldFigures(now))).toBe(expected);
  });

  test('not for a few millicores, however many times as much they are', () => {
    const idle = toldFigures({ ...decision, cpuUsage: '1m' });
    expect(isOutdated(idle, toldFigures({ ...decision, cpuUsage: '50m' }))).toBe(false);
    expect(isOutdated(idle, toldFigures({ ...decision, cpuUsage: '51m' }))).toBe(true);
  });

  test('where use was not known and is; not where it was known and is not', () => {
    const { cpuUsage: _, ...unmeasured } = decision;
    expect(isOutdated(toldFigures(unmeasured), told)).toBe(true);
    expect(isOutdated(told, toldFigures(unmeasured))).toBe(false);
    expect(isOutdated(toldFigures(unmeasured), toldFigures(unmeasured))).toBe(false);
  });

  test('where nothing was told at all', () => {
    expect(isOutdated(toldFigures(undefined), told)).toBe(true);
    expect(isOutdated(toldFigures({ ...decision, cpuUsage: 'much' }), told)).toBe(true);
  });
});

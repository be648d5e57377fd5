import { describe, expect, test } from 'vitest';
import { applyMetric, type MetricFact } from './custom-metrics.ts';

const NOW = 1_000_000;
const metric = (value: number, change: Partial<MetricFact> = {}): MetricFact => ({
  value,
  target: 100,
  at: NOW - 5000,
  isAuthoritative: false,
  ...change,
});

describe('an application metric', () => {
  test.each<[string, MetricFact | undefined, number]>([
    ['none', undefined, 400],
    ['on target', metric(100), 400],
    ['half above its target', metric(150), 600],
    ['far above: at most twice', metric(900), 800],
    ['below its target: CPU knows better', metric(20), 400],
    ['below its target, and it knows better', metric(70, { isAuthoritative: true }), 280],
    ['far below: at least half', metric(1, { isAuthoritative: true }), 200],
    ['too old', metric(900, { at: NOW - 61_000 }), 400],
    ['not a number', metric(Number.NaN), 400],
    ['endless', metric(Number.POSITIVE_INFINITY), 400],
    ['negative', metric(-5, { isAuthoritative: true }), 400],
    ['a target of nothing', metric(5, { target: 0 }), 400],
    ['a target below nothing', metric(5, { target: -1, isAuthoritative: true }), 400],
  ])('integration 10: %s', (_name, given, want) => {
    const found = applyMetric(400, given, NOW);
    expect(found.want).toBe(want);
    expect(found.clamps).toEqual(
      want === 400 ? [] : [{ reason: 'CustomMetric', what: 'want', before: 400, after: want }],
    );
  });
});

import { describe, expect, test } from 'vitest';
import { type BenchResult, checkBars, formatFigure, quantile, renderResult, shortfall } from './bench-result.ts';

const result: BenchResult = {
  name: 'sample',
  figures: { p99_ms: 4, rate_per_second: 1000, evictions: 0 },
  bars: [
    { key: 'p99_ms', op: '<=', value: 5 },
    { key: 'rate_per_second', op: '>=', value: 2000 },
    { key: 'evictions', op: '==', value: 0 },
    { key: 'not_measured', op: '<=', value: 1 },
  ],
};

describe('bars', () => {
  test('each is judged by its own comparison and a missing figure fails', () => {
    expect(checkBars(result).map(({ ok }) => ok)).toEqual([true, false, true, false]);
  });

  test('what could not be measured fails its bar, also after it has been JSON, and is the worst', () => {
    const unknown = { ...result, figures: { p99_ms: Number.NaN, rate_per_second: 3000, evictions: Number.NaN } };
    for (const each of [unknown, JSON.parse(JSON.stringify(unknown)) as BenchResult]) {
      expect(checkBars(each).map(({ ok }) => ok)).toEqual([false, true, false, false]);
      expect(each.bars.map((bar) => shortfall(each, bar))).toEqual([Infinity, 2 / 3, Infinity, Infinity]);
      expect(renderResult(each)).toMatch(/p99_ms +not measured {2}bar <= 5: SHORT/);
    }
  });

  test('the shortfall tells how far beyond the bar a figure is', () => {
    expect(result.bars.map((bar) => shortfall(result, bar))).toEqual([0.8, 2, 0, Number.POSITIVE_INFINITY]);
  });

  test('the printed result names the bars that fall short', () => {
    const text = renderResult(result);
    expect(text).toContain('p99_ms                   4  bar <= 5: ok');
    expect(text).toContain('SHORT');
  });
});

describe('quantile', () => {
  test.each([
    [[3, 1, 2], 0.5, 2],
    [[1], 0.99, 1],
    [Array.from({ length: 100 }, (_, index) => index), 0.99, 99],
  ])('of %j at %d is %d', (samples, fraction, expected) => {
    expect(quantile(samples, fraction)).toBe(expected);
  });

  test('of nothing throws', () => {
    expect(() => quantile([], 0.5)).toThrow('no samples');
  });
});

test.each([
  [12, '12'],
  [1234.5, '1235'],
  [0.01234, '0.0123'],
  [undefined, 'not measured'],
])('the figure %s prints as %s', (value, text) => {
  expect(formatFigure(value)).toBe(text);
});

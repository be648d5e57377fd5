import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../lib/random.ts';
import { type Arrival, arrivalsOf } from './open-loop.ts';

const arrivals = (
  rate: (millis: number) => number,
  options: { seed?: number; from?: number; until?: number } = {},
): Arrival[] =>
  arrivalsOf({
    ratePerSecond: rate,
    workMillis: 4,
    from: options.from ?? 0,
    until: options.until ?? 100_000,
    random: createSeededRandom(options.seed ?? 1),
  });

describe('a Poisson process', () => {
  test('has its rate, and gaps as spread as exponential ones', () => {
    const found = arrivals(() => 100);
    expect(found.length / 100).toBeGreaterThan(97);
    expect(found.length / 100).toBeLessThan(103);
    const gaps = found.slice(1).map(({ atMillis }, index) => atMillis - (found[index]?.atMillis ?? 0));
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
    expect(deviation / mean).toBeGreaterThan(0.95);
    expect(deviation / mean).toBeLessThan(1.05);
  });

  test('wants 4 ms of CPU on average', () => {
    const found = arrivals(() => 200);
    const mean = found.reduce((sum, { workMillis }) => sum + workMillis, 0) / found.length;
    expect(Math.abs(mean - 4)).toBeLessThan(0.15);
  });

  test('follows a rate that changes, and is silent at zero', () => {
    const found = arrivals((millis) => (millis < 50_000 ? 0 : 60));
    expect(found.filter(({ atMillis }) => atMillis < 50_000)).toEqual([]);
    expect(Math.abs(found.length - 3000)).toBeLessThan(200);
  });
});

test('for any seed and span requests are in order, within the span, the same each time', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(5000), fc.nat(5000), fc.integer({ min: 1, max: 500 }), (seed, from, length, rate) => {
      const options = { seed, from, until: from + length };
      const found = arrivals(() => rate, options);
      let last = from;
      for (const { atMillis, workMillis } of found) {
        expect(atMillis).toBeGreaterThanOrEqual(last);
        expect(atMillis).toBeLessThan(from + length);
        expect(workMillis).toBeGreaterThanOrEqual(0);
        last = atMillis;
      }
      expect(arrivals(() => rate, options)).toEqual(found);
    }),
    { numRuns: 100 },
  );
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seedOf } from './curve.ts';
import { type LoadResource, parseCurve } from './parse-curve.ts';

const MIDNIGHT = Date.UTC(2026, 5, 1);
const SECOND = 1000;
const HOUR = 3_600_000;

const at = (resource: LoadResource, text: string, millis: number, seed = 1): number =>
  parseCurve(resource, text)({ now: MIDNIGHT + millis, ageMillis: millis, seed });

describe('a load curve', () => {
  test.each<[LoadResource, string, number, number]>([
    ['cpu', '200m', 0, 200],
    ['cpu', '0.5', 0, 500],
    ['cpu', '250u', 0, 0.25],
    ['memory', '64Mi', 0, 64 * 1024 ** 2],
    ['cpu', 'constant(1)', 0, 1000],
    ['cpu', 'square(200m, 800m, 30s)', 0, 800],
    ['cpu', 'square(200m,800m,30s)', 14 * SECOND, 800],
    ['cpu', 'square(200m,800m,30s)', 15 * SECOND, 200],
    ['cpu', 'square(200m,800m,30s)', 31 * SECOND, 800],
    ['cpu', 'square(200m,800m,30s,15s)', 0, 200],
    ['cpu', 'diurnal(100m,500m)', 0, 100],
    ['cpu', 'diurnal(100m,500m)', 6 * HOUR, 300],
    ['cpu', 'diurnal(100m,500m)', 12 * HOUR, 500],
    ['cpu', 'diurnal(100m,500m,20h)', 20 * HOUR, 500],
    ['cpu', 'noise(200m, 0)', 5 * SECOND, 200],
    ['cpu', 'startup(100m,2,1m)', 59 * SECOND, 2000],
    ['cpu', 'startup(100m,2,1m)', 60 * SECOND, 100],
    ['cpu', 'step(100m,400m,10m)', 599 * SECOND, 100],
    ['cpu', 'step(100m,400m,10m)', 600 * SECOND, 400],
    ['memory', 'leak(100, 60)', HOUR / 2, 130],
    ['memory', 'leak(100, 60, 120)', HOUR / 2, 120],
    ['memory', 'plateau(100, 300, 1h)', 0, 100],
    ['cpu', '100m + square(0, 600m, 30s)', 0, 700],
    ['cpu', '100m + square(0, 600m, 30s) + 1m', 20 * SECOND, 101],
  ])('of %s %s after %d ms is %d', (resource, text, millis, expected) => {
    expect(at(resource, text, millis)).toBeCloseTo(expected, 6);
  });

  test('that fills a heap is nearly there after its time and never beyond', () => {
    expect(at('memory', 'plateau(100, 300, 1h)', HOUR)).toBeGreaterThan(289);
    expect(at('memory', 'plateau(100, 300, 1h)', 24 * HOUR)).toBeLessThanOrEqual(300);
  });

  test.each([
    ['', 'terms joined by'],
    ['lots', 'an amount of cpu'],
    ['square(1,2)', 'square(LOW, HIGH, PERIOD[, PHASE])'],
    ['square(1,2,3s,4s,5s)', 'square(LOW, HIGH, PERIOD[, PHASE])'],
    ['square(1,2,0s)', 'durations above 0'],
    ['square(1,2,-1s)', 'durations above 0'],
    ['square(1,2,soon)', 'a duration such as'],
    ['square(x,2,3s)', 'an amount of cpu'],
    ['circle(1)', 'bursty(BASE, PEAK, EVERY, LENGTH)'],
    ['200m +', 'an amount of cpu'],
    ['1'.repeat(501), 'at most 500 characters'],
  ])('%j is refused with what would do', (text, words) => {
    expect(() => parseCurve('cpu', text)).toThrow(words);
  });

  test('by chance is the same at the same moment and another for another container', () => {
    const text = 'bursty(0, 1, 100s, 10s)';
    const bursts = (seed: number): number[] =>
      Array.from({ length: 2000 }, (_, index) => at('cpu', text, index * 10 * SECOND, seed));
    expect(bursts(seedOf('a'))).toEqual(bursts(seedOf('a')));
    expect(bursts(seedOf('a'))).not.toEqual(bursts(seedOf('b')));
    const share = bursts(seedOf('a')).filter((value) => value > 0).length / 2000;
    expect(share).toBeGreaterThan(0.07);
    expect(share).toBeLessThan(0.13);
  });

  test('for any moment and seed is a number of at least 0', () => {
    const texts = [
      'square(0,1,7s,3s)',
      'diurnal(0,1,3h)',
      'bursty(0,1,60s,7s)',
      'noise(100m,1,3s)',
      'startup(1,2,1s)',
      'leak(1,1)',
      'plateau(0,1,1s)',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.integer({ min: 0, max: 4e12 }),
        fc.nat(),
        fc.integer(),
        (text, now, ageMillis, seed) => {
          expect(parseCurve('cpu', text)({ now, ageMillis, seed })).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});

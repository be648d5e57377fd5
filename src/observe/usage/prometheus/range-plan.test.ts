import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_POINTS, planRanges } from './range-plan.ts';

const DAY = 86_400_000;
const base = { from: 0, to: DAY, stepMillis: 60_000, series: 2, sampleBudget: 200_000 };
const pointsOf = ({ start, end }: { start: number; end: number }, step: number) => (end - start) / step + 1;

describe('plan of ranges', () => {
  test('a day at a minute is one range, and does not ask again for where it began', () => {
    expect(planRanges(base)).toEqual({ stepMillis: 60_000, ranges: [{ start: 60_000, end: DAY }] });
  });

  test('ends are multiples of the step', () => {
    const { ranges } = planRanges({ ...base, from: 90_500, to: 310_000 });
    expect(ranges).toEqual([{ start: 120_000, end: 300_000 }]);
  });

  test.each([
    ['nothing new yet', 60_000, 119_000],
    ['no time at all', 60_000, 60_000],
    ['a clock that went back', 120_000, 60_000],
  ])('%s: no range', (_name, from, to) => {
    expect(planRanges({ ...base, from, to }).ranges).toEqual([]);
  });

  test('rightsizing bug 31: a week at 30 s, 20,161 points, is asked for with a longer step, in one range', () => {
    const { stepMillis, ranges } = planRanges({ ...base, to: 7 * DAY, stepMillis: 30_000 });
    expect([stepMillis, ranges.length]).toEqual([60_000, 1]);
  });

  test('rightsizing bug 31: where many series would bring too many samples, the step is longer', () => {
    const { stepMillis } = planRanges({ ...base, series: 1000 });
    expect(stepMillis).toBe(300_000);
    expect(planRanges({ ...base, series: 300 }).stepMillis).toBe(180_000);
  });

  test('beyond five minutes the step grows no more; the time is cut instead', () => {
    const { stepMillis, ranges } = planRanges({ ...base, to: 90 * DAY });
    expect(stepMillis).toBe(300_000);
    expect(ranges.length).toBe(3);
  });

  test('for any times and budgets, ranges are within both, without gap or overlap, and bring everything new', () => {
    fc.assert(
      fc.property(
        fc.nat(100 * DAY),
        fc.nat(30 * DAY),
        fc.integer({ min: 1, max: 600_000 }),
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 50_000, max: 1_000_000 }),
        (from, length, wanted, series, sampleBudget) => {
          const to = from + length;
          const { stepMillis: step, ranges } = planRanges({ from, to, stepMillis: wanted, series, sampleBudget });
          let next = Math.floor(from / step) * step + step;
          for (const range of ranges) {
            expect(range.start).toBe(next);
            expect(pointsOf(range, step)).toBeLessThanOrEqual(MAX_POINTS);
            expect(pointsOf(range, step) * series).toBeLessThanOrEqual(Math.max(sampleBudget, series));
            expect(range.end).toBeGreaterThanOrEqual(range.start);
            next = range.end + step;
          }
          expect(next).toBeGreaterThan(to);
          expect(next - step).toBeLessThanOrEqual(Math.max(to, from));
        },
      ),
      { numRuns: 200 },
    );
  });
});

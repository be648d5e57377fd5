import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type MemoryPeak, PEAK_SPAN_MILLIS } from '../../model/usage-memory.ts';
import { memoryNeed, shownGrowth } from './memory-target.ts';
import type { PeakTarget } from './policy.ts';

const DAY = 86_400_000;
const target: PeakTarget = { strategy: 'Peak', lookBackMillis: 3 * DAY, minRoom: 0.1, maxRoom: 0.25 };
const spans = (...bytes: number[]): MemoryPeak[] => bytes.map((value, span) => ({ span, bytes: value }));
const endOf = (count: number): number => count * PEAK_SPAN_MILLIS;

describe('memory need', () => {
  test('rightsizing bug 2: of no history is unknown, never the smallest value', () => {
    expect(memoryNeed([], target, endOf(1))).toBeUndefined();
  });

  test('of old peaks alone is unknown', () => {
    expect(memoryNeed(spans(100), target, endOf(20))).toBeUndefined();
  });

  test('is the highest peak and the least room, for what never grew', () => {
    const need = memoryNeed(spans(100, 100, 100, 100, 100, 100), target, endOf(6));
    expect(need?.bytes).toBeCloseTo(110, 9);
    expect(need).toMatchObject({ peak: 100, room: 0.1 });
  });

  test('forgets a peak once it is older than the look-back', () => {
    const peaks = spans(500, ...Array.from({ length: 20 }, () => 100));
    expect(memoryNeed(peaks, target, endOf(13))?.peak).toBe(100);
    expect(memoryNeed(peaks, target, endOf(12))?.peak).toBe(500);
  });

  test('room is what growth was shown, within its bounds', () => {
    expect(memoryNeed(spans(100, 100, 100, 100, 120), target, endOf(5))?.room).toBeCloseTo(0.2, 9);
    expect(memoryNeed(spans(100, 100, 100, 100, 300), target, endOf(5))?.room).toBe(0.25);
  });

  test('for any peaks, the need is above every recent one', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1e12 }), { minLength: 1, maxLength: 12 }), (bytes) => {
        const need = memoryNeed(spans(...bytes), target, endOf(bytes.length))?.bytes ?? 0;
        expect(need).toBeGreaterThanOrEqual(Math.max(...bytes) * 1.1);
        expect(need).toBeLessThanOrEqual(Math.max(...bytes) * 1.25 + 1);
      }),
      { numRuns: 200 },
    );
  });
});

describe('growth shown', () => {
  test.each([
    ['nothing', [], 0],
    ['the first day alone', [100, 200, 300, 400], 0],
    ['a day like the one before', [100, 400, 100, 100, 100, 400, 100, 100], 0],
    ['a rise on the second day', [100, 100, 100, 100, 150], 0.5],
    ['two rises: the larger', [100, 100, 100, 100, 150, 180], 0.5],
    ['a rise three days ago', [100, 100, 100, 100, 150, ...Array.from({ length: 11 }, () => 150)], 0.5],
    ['a rise of longer ago', [100, 100, 100, 100, 150, ...Array.from({ length: 12 }, () => 150)], 0],
    ['a fall', [400, 400, 400, 400, 100], 0],
    ['a rise to what was there before', [400, 400, 400, 400, 100, 100, 100, 100, 400], 0],
  ])('by %s', (_name, bytes, growth) => {
    expect(shownGrowth(spans(...bytes), 3 * DAY, endOf(bytes.length))).toBeCloseTo(growth, 9);
  });
});

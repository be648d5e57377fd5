import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBucketLayout } from './bucket-layout.ts';

const memory = createBucketLayout({ firstWidth: 1e7, ratio: 1.05, maxValue: 1e12 });
const cpu = createBucketLayout({ firstWidth: 0.01, ratio: 1.05, maxValue: 1000 });

describe('exponential buckets', () => {
  test('are as many as VPA has for its CPU and its memory', () => {
    expect([cpu.count, memory.count]).toEqual([176, 176]);
  });

  test.each([
    ['at the maximum, where one does', 70, 4, 70],
    ['above it, where none does', 71, 5, 150],
  ])('the last one begins %s', (_name, maxValue, count, start) => {
    const layout = createBucketLayout({ firstWidth: 10, ratio: 2, maxValue });
    expect([layout.count, layout.startOf(layout.count - 1)]).toEqual([count, start]);
  });

  test('begin at 0, the second one a first width later, the third ratio times that further', () => {
    expect([cpu.startOf(0), cpu.startOf(1)]).toEqual([0, 0.01]);
    expect(cpu.startOf(2) - cpu.startOf(1)).toBeCloseTo(0.0105, 12);
  });

  test.each([
    ['nothing', 0, 0],
    ['less than nothing', -5, 0],
    ['no number', Number.NaN, 0],
    ['just below the first width', 9_999_999, 0],
    ['the first width', 1e7, 1],
    ['just below the second start', 2.0499e7, 1],
    ['more than the maximum', 1e15, 175],
    ['no end', Number.POSITIVE_INFINITY, 175],
  ])('%s is in its bucket', (_name, value, index) => {
    expect(memory.indexOf(value)).toBe(index);
  });

  test('there is no bucket beyond the last', () => {
    expect(Number.isFinite(memory.startOf(memory.count))).toBe(true);
    expect(memory.startOf(memory.count + 1)).toBe(Number.POSITIVE_INFINITY);
  });

  test('for any value, its bucket holds it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 9.9e11, noNaN: true }), (value) => {
        const index = memory.indexOf(value);
        expect(memory.startOf(index)).toBeLessThanOrEqual(value);
        expect(memory.startOf(index + 1)).toBeGreaterThan(value);
      }),
      { numRuns: 500 },
    );
  });

  test('every start of a bucket is in that bucket, whatever the logarithm rounds to', () => {
    for (let index = 0; index < memory.count; index++) expect(memory.indexOf(memory.startOf(index))).toBe(index);
  });

  test.each([
    ['no width', { firstWidth: 0, ratio: 1.05, maxValue: 10 }],
    ['a ratio that does not grow', { firstWidth: 1, ratio: 1, maxValue: 10 }],
    ['a maximum within the first bucket', { firstWidth: 1, ratio: 1.05, maxValue: 0.5 }],
    ['a maximum at the end of the first bucket', { firstWidth: 1, ratio: 1.05, maxValue: 1 }],
    ['no maximum', { firstWidth: 1, ratio: 1.05, maxValue: Number.POSITIVE_INFINITY }],
    ['no number', { firstWidth: Number.NaN, ratio: 1.05, maxValue: 10 }],
  ])('%s is refused', (_name, options) => {
    expect(() => createBucketLayout(options)).toThrow(RangeError);
  });
});

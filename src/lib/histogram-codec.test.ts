import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBucketLayout } from './bucket-layout.ts';
import { InvalidValueError } from './errors.ts';
import { DecayingHistogram } from './histogram.ts';
import { decodeHistogram, encodeHistogram } from './histogram-codec.ts';

const DAY = 86_400_000;
const layout = createBucketLayout({ firstWidth: 1, ratio: 1.05, maxValue: 1e6 });

describe('saved histograms', () => {
  test('for any samples, the text reads back as exactly what was written', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.double({ min: 0, max: 2e6, noNaN: true }), fc.nat(90 * DAY))), (list) => {
        const histogram = new DecayingHistogram({ layout, halfLifeMillis: DAY });
        for (const [value, at] of list) histogram.add(value, 1, at);
        const state = histogram.state();
        expect(decodeHistogram(encodeHistogram(state))).toEqual(state);
      }),
      { numRuns: 200 },
    );
  });

  test('have one form, which later versions read: a double, then a bucket of 16 bits and a weight of 32 each', () => {
    const state = {
      referenceMillis: 5,
      buckets: [
        [0, 0.5],
        [300, 2],
      ] as const,
    };
    const text = 'h1:QBQAAAAAAAAAAD8AAAABLEAAAAA=';
    expect(encodeHistogram(state)).toBe(text);
    expect(decodeHistogram(text)).toEqual(state);
  });

  test('an empty histogram is 15 characters', () => {
    const text = encodeHistogram(new DecayingHistogram({ layout, halfLifeMillis: DAY }).state());
    expect(text).toHaveLength(15);
    expect(decodeHistogram(text).buckets).toEqual([]);
  });

  test('a full histogram is no more than 8 characters a bucket', () => {
    const histogram = new DecayingHistogram({ layout, halfLifeMillis: DAY });
    for (let index = 0; index < layout.count; index++) histogram.add(layout.startOf(index), 1, index);
    expect(encodeHistogram(histogram.state()).length).toBeLessThanOrEqual(8 * layout.count + 20);
  });

  const whole = (): string =>
    encodeHistogram({
      referenceMillis: 5,
      buckets: [
        [3, 0.5],
        [9, 2],
      ],
    });
  test.each([
    ['nothing', ''],
    ['another version', whole().replace('h1:', 'h2:')],
    ['text that was cut', whole().slice(0, -5)],
    ['no reference', 'h1:AAAA'],
    [
      'buckets out of order',
      encodeHistogram({
        referenceMillis: 5,
        buckets: [
          [9, 1],
          [3, 1],
        ],
      }),
    ],
    [
      'a bucket twice',
      encodeHistogram({
        referenceMillis: 5,
        buckets: [
          [9, 1],
          [9, 1],
        ],
      }),
    ],
    ['a negative weight', encodeHistogram({ referenceMillis: 5, buckets: [[9, -1]] })],
    ['an endless weight', encodeHistogram({ referenceMillis: 5, buckets: [[9, Number.POSITIVE_INFINITY]] })],
    ['no time', encodeHistogram({ referenceMillis: Number.NaN, buckets: [] })],
  ])('%s is refused with what would be accepted', (_name, text) => {
    expect(() => decodeHistogram(text)).toThrow(InvalidValueError);
  });

  test('the complaint quotes no more than the beginning of a long text', () => {
    expect(() => decodeHistogram('x'.repeat(5000))).toThrow(/^saved histogram: .{0,200}$/);
  });
});

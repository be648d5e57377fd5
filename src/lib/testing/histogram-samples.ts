/** Random samples of decaying histograms, and histograms of both kinds that take them. */
import fc from 'fast-check';
import { createBucketLayout } from '../bucket-layout.ts';
import { DecayingHistogram } from '../histogram.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const layout = createBucketLayout({ firstWidth: 10, ratio: 1.05, maxValue: 1e6 });
export const fading = (halfLifeMillis = DAY): DecayingHistogram => new DecayingHistogram({ layout, halfLifeMillis });
export const lasting = (): DecayingHistogram => fading(Number.POSITIVE_INFINITY);

export interface Sample {
  readonly value: number;
  readonly weight: number;
  readonly at: number;
}
export const samples = fc.array(
  fc.record({
    value: fc.double({ min: 0, max: 900_000, noNaN: true }),
    weight: fc.double({ min: 0.1, max: 10, noNaN: true }),
    at: fc.integer({ min: 0, max: 30 * DAY }),
  }),
  { minLength: 1, maxLength: 60 },
);
export const fill = (histogram: DecayingHistogram, list: readonly Sample[]): DecayingHistogram => {
  for (const { value, weight, at } of list) histogram.add(value, weight, at);
  return histogram;
};

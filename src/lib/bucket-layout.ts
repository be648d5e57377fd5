/**
 * Buckets whose widths grow by a constant ratio: a few hundred cover nine orders of magnitude with a known relative
 * error.
 */

export interface BucketLayout {
  /** Number of buckets; the last one has no upper end. */
  readonly count: number;
  /** Width of the first bucket, which begins at 0. */
  readonly firstWidth: number;
  /** How much wider each bucket is than the one before it; above 1. */
  readonly ratio: number;
  /**
   * Bucket that holds `value`: 0 for anything below the first width (negative too), the last for anything too large.
   */
  indexOf(value: number): number;
  /**
   * Lower end of bucket `index`, which is the upper end of the one before it.
   * @param index 0..count; `count` gives where the last bucket would end.
   */
  startOf(index: number): number;
}

export interface BucketLayoutOptions {
  readonly firstWidth: number;
  /** Above 1: the largest relative width of a bucket is `ratio - 1`. */
  readonly ratio: number;
  /** Values from about here on share the last bucket. */
  readonly maxValue: number;
}

/**
 * Buckets as VPA lays them out: bucket n begins at `firstWidth * (ratio^n - 1) / (ratio - 1)`
 * (vertical-pod-autoscaler/pkg/recommender/util/histogram_options.go).
 * @throws RangeError for a width that is not above 0, a ratio not above 1, or a maximum not above the first width.
 */
export function createBucketLayout({ firstWidth, ratio, maxValue }: BucketLayoutOptions): BucketLayout {
  if (!(firstWidth > 0) || !(ratio > 1) || !(maxValue > firstWidth) || !Number.isFinite(maxValue)) {
    throw new RangeError(`buckets of ${firstWidth} growing by ${ratio} up to ${maxValue}: not an exponential layout`);
  }
  const growth = ratio - 1;
  const logRatio = Math.log(ratio);
  const count = Math.ceil(Math.log((maxValue * growth) / firstWidth + 1) / logRatio) + 1;
  const starts = Float64Array.from({ length: count + 1 }, (_, index) => (firstWidth * (ratio ** index - 1)) / growth);
  const startOf = (index: number): number => starts[index] ?? Number.POSITIVE_INFINITY;

  return {
    count,
    firstWidth,
    ratio,
    startOf,
    indexOf(value) {
      // Not `value < firstWidth`: what is no number at all belongs to the first bucket rather than nowhere.
      if (!(value >= firstWidth)) return 0;
      const guess = Math.min(count - 1, Math.floor(Math.log((value * growth) / firstWidth + 1) / logRatio));
      // The logarithm may be off by one at a bucket's very edge; the table of starts decides.
      if (value < startOf(guess)) return guess - 1;
      return guess < count - 1 && value >= startOf(guess + 1) ? guess + 1 : guess;
    },
  };
}

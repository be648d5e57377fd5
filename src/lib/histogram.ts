/**
 * A histogram whose samples fade: each counts half as much for every half-life it is older. It answers which share of the
 * time a value was exceeded, holds any amount of history in a fixed space, and can be merged and saved.
 */
import type { BucketLayout } from './bucket-layout.ts';
import type { EpochMillis, Millis } from './units.ts';

export interface HistogramOptions {
  readonly layout: BucketLayout;
  /** A sample this old counts half. Infinity: samples never fade. */
  readonly halfLifeMillis: Millis;
}

/** The weights in a form that can be saved; see histogram-codec.ts for its text. */
export interface HistogramState {
  /** The instant at which a sample has the weight it was added with. */
  readonly referenceMillis: EpochMillis;
  /** Bucket and weight, in order of buckets; only those with weight. */
  readonly buckets: readonly (readonly [index: number, weight: number])[];
}

export interface DecayingHistogram {
  readonly layout: BucketLayout;
  readonly halfLifeMillis: Millis;
  /** Adds a sample taken at `at`; in any order of time. Weights that are not positive numbers add nothing. */
  add(value: number, weight: number, at: EpochMillis): void;
  /** Adds all samples of `other`. @throws RangeError when layout or half-life differ. */
  merge(other: DecayingHistogram): void;
  /** Sum of all weights, in units of a sample taken at the reference: only ratios of it mean anything. */
  total(): number;
  isEmpty(): boolean;
  /** Share of the whole weight that is in bucket `index`, 0..1; 0 when empty. */
  share(index: number): number;
  /**
   * Upper end of the bucket that holds the `fraction` quantile, as VPA answers; the lower end of the last bucket, and 0 when
   * there are no samples.
   * @param fraction 0..1
   */
  percentile(fraction: number): number;
  state(): HistogramState;
}

/** Beyond this many half-lives the weights are scaled down, so that new samples never overflow. VPA uses the same number. */
const MAX_DECAY_EXPONENT = 100;

/** @param saved what `state()` returned earlier; buckets beyond the layout are put into its last one. */
export function createHistogram(options: HistogramOptions, saved?: HistogramState): DecayingHistogram {
  const { layout, halfLifeMillis } = options;
  if (!(halfLifeMillis > 0)) throw new RangeError(`a half-life of ${halfLifeMillis} ms: it must be above 0`);
  // 32 bits keep 7 digits of each weight at half the space; buckets are 5 % wide.
  const weights = new Float32Array(layout.count);
  let referenceMillis = saved?.referenceMillis ?? 0;
  let sum = 0;
  for (const [index, weight] of saved?.buckets ?? []) {
    const place = Math.min(layout.count - 1, index);
    weights[place] = at(place) + weight;
  }
  recount();

  function at(index: number): number {
    return weights[index] ?? 0;
  }

  function recount(): void {
    sum = 0;
    for (const weight of weights) sum += weight;
  }

  /** Moves the reference to about `newReference`, a whole number of half-lives from the old one so that scaling is exact. */
  function shiftReference(newReference: EpochMillis): void {
    const halfLives = Math.round((newReference - referenceMillis) / halfLifeMillis);
    referenceMillis += halfLives * halfLifeMillis;
    const factor = 2 ** -halfLives;
    for (let index = 0; index < weights.length; index++) weights[index] = at(index) * factor;
    recount();
  }

  function decayed(weight: number, atMillis: EpochMillis): number {
    if (halfLifeMillis === Number.POSITIVE_INFINITY) return weight;
    if (sum === 0) referenceMillis = atMillis;
    if ((atMillis - referenceMillis) / halfLifeMillis > MAX_DECAY_EXPONENT) shiftReference(atMillis);
    return weight * 2 ** ((atMillis - referenceMillis) / halfLifeMillis);
  }

  function put(index: number, weight: number): void {
    const before = at(index);
    weights[index] = before + weight;
    sum += at(index) - before;
  }

  return {
    layout,
    halfLifeMillis,
    add(value, weight, atMillis) {
      if (!(weight > 0) || !Number.isFinite(weight) || !Number.isFinite(value) || !Number.isFinite(atMillis)) return;
      put(layout.indexOf(value), decayed(weight, atMillis));
    },
    merge(other) {
      if (other.halfLifeMillis !== halfLifeMillis || !isSameLayout(other.layout, layout)) {
        throw new RangeError('histograms of different layouts or half-lives cannot be merged');
      }
      const added = other.state();
      if (added.buckets.length === 0) return;
      if (sum === 0) referenceMillis = added.referenceMillis;
      if (halfLifeMillis !== Number.POSITIVE_INFINITY && added.referenceMillis > referenceMillis) {
        shiftReference(added.referenceMillis);
      }
      const factor =
        halfLifeMillis === Number.POSITIVE_INFINITY
          ? 1
          : 2 ** ((added.referenceMillis - referenceMillis) / halfLifeMillis);
      for (const [index, weight] of added.buckets) put(index, weight * factor);
    },
    total: () => sum,
    isEmpty: () => !(sum > 0),
    share: (index) => (sum > 0 ? at(index) / sum : 0),
    percentile(fraction) {
      if (!(sum > 0)) return 0;
      const threshold = fraction * sum;
      let below = 0;
      let index = weights.findIndex((weight) => weight > 0);
      for (; index < layout.count - 1; index++) {
        below += at(index);
        if (below >= threshold) break;
      }
      // Where the sum falls short by rounding, the answer is the last bucket that holds anything.
      const last = weights.findLastIndex((weight) => weight > 0);
      const bucket = Math.min(index, last);
      return layout.startOf(bucket < layout.count - 1 ? bucket + 1 : bucket);
    },
    state() {
      const buckets: [number, number][] = [];
      for (const [index, weight] of weights.entries()) if (weight > 0) buckets.push([index, weight]);
      return { referenceMillis, buckets };
    },
  };
}

function isSameLayout(a: BucketLayout, b: BucketLayout): boolean {
  return a === b || (a.count === b.count && a.firstWidth === b.firstWidth && a.ratio === b.ratio);
}

/**
 * A histogram whose samples fade: each counts half as much for every half-life it is older. It answers which share of
 * the time a value was exceeded, holds any amount of history in a fixed space, and can be merged and saved.
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

/**
 * Beyond this many half-lives the weights are scaled down, so that new samples never overflow. VPA uses the same
 * number.
 */
const MAX_DECAY_EXPONENT = 100;
/** Room kept on both sides of the buckets in use, so that the next value seldom needs a new array. */
const SPARE_BUCKETS = 4;

/** A class, because tens of thousands are held at a time: methods are shared, and only buckets in use have space. */
export class DecayingHistogram {
  readonly layout: BucketLayout;
  readonly halfLifeMillis: Millis;
  /**
   * Weights of the buckets from `#first` on. Rounded to the 7 digits that are saved of each; buckets are 5 % wide. A
   * plain list: for the few buckets in use a typed array's own buffer would take more than its numbers.
   */
  #weights: number[] = [];
  #first = 0;
  #referenceMillis: EpochMillis;
  #sum = 0;

  /**
   * @param saved what {@link state} returned earlier; buckets beyond the layout are put into its last one.
   * @throws RangeError for a half-life that is not above 0.
   */
  constructor({ layout, halfLifeMillis }: HistogramOptions, saved?: HistogramState) {
    if (!(halfLifeMillis > 0)) throw new RangeError(`a half-life of ${halfLifeMillis} ms: it must be above 0`);
    this.layout = layout;
    this.halfLifeMillis = halfLifeMillis;
    this.#referenceMillis = saved?.referenceMillis ?? 0;
    for (const [index, weight] of saved?.buckets ?? []) this.#put(Math.min(layout.count - 1, index), weight);
  }

  /** Adds a sample taken at `at`, in any order of time. Weights that are not positive numbers add nothing. */
  add(value: number, weight: number, at: EpochMillis): void {
    if (!(weight > 0) || !Number.isFinite(weight) || !Number.isFinite(value) || !Number.isFinite(at)) return;
    if (this.#sum === 0) this.#referenceMillis = at;
    if (this.#halfLivesSince(at) > MAX_DECAY_EXPONENT) this.#shiftReference(at);
    this.#put(this.layout.indexOf(value), weight * 2 ** this.#halfLivesSince(at));
  }

  /** Adds all samples of `other`. @throws RangeError when layout or half-life differ. */
  merge(other: DecayingHistogram): void {
    if (other.halfLifeMillis !== this.halfLifeMillis || !isSameLayout(other.layout, this.layout)) {
      throw new RangeError('histograms of different layouts or half-lives cannot be merged');
    }
    const { referenceMillis, buckets } = other.state();
    if (buckets.length === 0) return;
    if (this.#sum === 0) this.#referenceMillis = referenceMillis;
    if (this.#halfLivesSince(referenceMillis) > 0) this.#shiftReference(referenceMillis);
    const factor = 2 ** this.#halfLivesSince(referenceMillis);
    for (const [index, weight] of buckets) this.#put(index, weight * factor);
  }

  isEmpty(): boolean {
    return !(this.#sum > 0);
  }

  /** Share of the whole weight that is in bucket `index`, 0..1; 0 when empty. */
  share(index: number): number {
    return this.#sum > 0 ? this.#weightOf(index) / this.#sum : 0;
  }

  /** The buckets with weight are at or after `from` and before `to`. */
  range(): { readonly from: number; readonly to: number } {
    return { from: this.#first, to: this.#first + this.#weights.length };
  }

  /**
   * Upper end of the bucket that holds the `fraction` quantile, as VPA answers; the lower end of the last bucket, and 0
   * when there are no samples.
   * @param fraction 0..1
   */
  percentile(fraction: number): number {
    if (this.isEmpty()) return 0;
    const threshold = fraction * this.#sum;
    let below = 0;
    let bucket = 0;
    for (const [place, weight] of this.#weights.entries()) {
      if (weight === 0) continue;
      // Where the sum falls short by rounding, the answer is the last bucket that holds anything.
      bucket = this.#first + place;
      below += weight;
      if (below >= threshold) break;
    }
    return this.layout.startOf(bucket < this.layout.count - 1 ? bucket + 1 : bucket);
  }

  /** A copy: later samples do not change it. */
  state(): HistogramState {
    const buckets: [number, number][] = [];
    for (const [place, weight] of this.#weights.entries()) if (weight > 0) buckets.push([this.#first + place, weight]);
    return { referenceMillis: this.#referenceMillis, buckets };
  }

  /**
   * The state with `at` as its reference: weights are what they count for at that instant, whatever half-life comes
   * after.
   */
  stateAt(at: EpochMillis): HistogramState {
    const factor = 2 ** -this.#halfLivesSince(at);
    const buckets = this.state().buckets.map(([index, weight]) => [index, Math.fround(weight * factor)] as const);
    return { referenceMillis: at, buckets: buckets.filter(([, weight]) => weight > 0) };
  }

  #halfLivesSince(at: EpochMillis): number {
    return (at - this.#referenceMillis) / this.halfLifeMillis;
  }

  #weightOf(index: number): number {
    return this.#weights[index - this.#first] ?? 0;
  }

  #put(index: number, weight: number): void {
    this.#makeRoom(index);
    const before = this.#weightOf(index);
    this.#weights[index - this.#first] = Math.fround(before + weight);
    this.#sum += this.#weightOf(index) - before;
  }

  #makeRoom(index: number): void {
    const end = this.#first + this.#weights.length;
    if (index >= this.#first && index < end) return;
    const isNew = this.#weights.length === 0;
    const first = Math.max(0, Math.min(isNew ? index : this.#first, index) - SPARE_BUCKETS);
    const last = Math.min(this.layout.count, Math.max(isNew ? index : end, index + 1) + SPARE_BUCKETS);
    const roomier = Array.from({ length: last - first }, () => 0);
    for (const [place, weight] of this.#weights.entries()) roomier[place + this.#first - first] = weight;
    this.#weights = roomier;
    this.#first = first;
  }

  /** Moves the reference to about `newReference`, a whole number of half-lives away so that scaling is exact. */
  #shiftReference(newReference: EpochMillis): void {
    const halfLives = Math.round(this.#halfLivesSince(newReference));
    this.#referenceMillis += halfLives * this.halfLifeMillis;
    this.#weights = this.#weights.map((weight) => Math.fround(weight * 2 ** -halfLives));
    this.#sum = this.#weights.reduce((sum, weight) => sum + weight, 0);
  }
}

function isSameLayout(a: BucketLayout, b: BucketLayout): boolean {
  return a === b || (a.count === b.count && a.firstWidth === b.firstWidth && a.ratio === b.ratio);
}

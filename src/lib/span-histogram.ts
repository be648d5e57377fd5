/**
 * A histogram of the last few spans of time in which anything was seen; what is older is gone at once. Unlike a
 * histogram that fades, it forgets a burst of yesterday altogether, and a gap of days takes nothing from it.
 */
import type { BucketLayout } from './bucket-layout.ts';
import { countAt, packedCounts, putCount } from './packed-counts.ts';
import type { EpochMillis, Millis } from './units.ts';

export interface SpanHistogramOptions {
  readonly layout: BucketLayout;
  readonly spanMillis: Millis;
  /** Spans that are kept: the current one and those before it. */
  readonly spans: number;
}

/** The counts in a form that can be saved; see count-codec.ts for the text of the numbers. */
export interface SpanHistogramState {
  /** Numbers of the spans since the epoch. */
  readonly spans: readonly number[];
  /** Bucket of the first count of each span. */
  readonly first: number;
  /** As many counts for each span, one span after the other. */
  readonly counts: readonly number[];
}

/** Room kept on both sides of the buckets in use, so that the next value seldom needs a new array. */
const SPARE_BUCKETS = 1;

/**
 * A class, because tens of thousands are held at a time: one array holds the counts of all spans, and only of buckets
 * in use.
 */
export class SpanHistogram {
  readonly layout: BucketLayout;
  readonly #spanMillis: Millis;
  readonly #most: number;
  /** The span in each row of `#counts`, in any order; a row has `#width` counts from bucket `#first` on. */
  #spans: number[] = [];
  #counts = packedCounts(0);
  #first = 0;
  #width = 0;
  /** Values in each row, and in all. */
  #totals: number[] = [];
  #total = 0;

  constructor({ layout, spanMillis, spans }: SpanHistogramOptions, saved?: SpanHistogramState) {
    this.layout = layout;
    this.#spanMillis = spanMillis;
    this.#most = spans;
    if (saved !== undefined) this.#restore(saved);
  }

  /** Counts a value, in any order of time. What is older than every span of a full histogram comes too late. */
  add(value: number, at: EpochMillis): void {
    if (!Number.isFinite(value) || !Number.isFinite(at)) return;
    const row = this.#rowOf(Math.floor(at / this.#spanMillis));
    if (row === undefined) return;
    const index = this.layout.indexOf(value);
    this.#makeRoom(index);
    const place = row * this.#width + index - this.#first;
    this.#counts = putCount(this.#counts, place, countAt(this.#counts, place) + 1);
    this.#totals[row] = (this.#totals[row] ?? 0) + 1;
    this.#total++;
  }

  isEmpty(): boolean {
    return this.#total === 0;
  }

  /** Share of all values that are in bucket `index`, 0..1; 0 when empty. */
  share(index: number): number {
    const column = index - this.#first;
    if (this.#total === 0 || column < 0 || column >= this.#width) return 0;
    let count = 0;
    for (let row = 0; row < this.#spans.length; row++) count += countAt(this.#counts, row * this.#width + column);
    return count / this.#total;
  }

  /**
   * The share of each bucket in {@link range}, in its order, of all values of the latest `spans` spans. In one pass,
   * where {@link share} asked for each bucket would go through all spans again and again.
   */
  shares(spans: number): Float64Array {
    const shares = new Float64Array(this.#width);
    const rows = this.#spans
      .map((span, row) => ({ span, row }))
      .toSorted((a, b) => b.span - a.span)
      .slice(0, spans);
    const total = rows.reduce((sum, { row }) => sum + (this.#totals[row] ?? 0), 0);
    for (let column = 0; column < this.#width; column++) {
      let count = 0;
      for (const { row } of rows) count += countAt(this.#counts, row * this.#width + column);
      shares[column] = count / total;
    }
    return shares;
  }

  /** The buckets with values are at or after `from` and before `to`. */
  range(): { readonly from: number; readonly to: number } {
    return { from: this.#first, to: this.#first + this.#width };
  }

  state(): SpanHistogramState {
    const counts = Array.from({ length: this.#places() }, (_, place) => countAt(this.#counts, place));
    return { spans: [...this.#spans], first: this.#first, counts };
  }

  #places(): number {
    return this.#spans.length * this.#width;
  }

  /** Row of `span`, a new one for a new span; undefined for one that is older than all there is room for. */
  #rowOf(span: number): number | undefined {
    const known = this.#spans.indexOf(span);
    if (known >= 0) return known;
    if (this.#spans.length < this.#most) {
      const roomier = packedCounts(this.#places() + this.#width, this.#counts);
      for (const [at, number] of this.#counts.entries()) roomier[at] = number;
      this.#counts = roomier;
      // Not pushed: a list that grows takes room for 16 more.
      this.#totals = this.#totals.concat(0);
      this.#spans = this.#spans.concat(span);
      return this.#spans.length - 1;
    }
    const oldest = Math.min(...this.#spans);
    if (span < oldest) return undefined;
    const row = this.#spans.indexOf(oldest);
    const [start, end] = [row * this.#width, (row + 1) * this.#width];
    this.#total -= this.#totals[row] ?? 0;
    this.#totals[row] = 0;
    for (let place = start; place < end; place++) putCount(this.#counts, place, 0);
    this.#spans[row] = span;
    this.#trim();
    return row;
  }

  #makeRoom(index: number): void {
    const end = this.#first + this.#width;
    if (index >= this.#first && index < end) return;
    const isNew = this.#width === 0;
    const first = Math.max(0, Math.min(isNew ? index : this.#first, index) - SPARE_BUCKETS);
    const last = Math.min(this.layout.count, Math.max(isNew ? index : end, index + 1) + SPARE_BUCKETS);
    this.#reshape(first, last - first);
  }

  /** What only the forgotten span used needs no room any more. */
  #trim(): void {
    const isUsed = (index: number): boolean => this.share(index) > 0;
    let { from, to } = this.range();
    while (from < to && !isUsed(from)) from++;
    while (to > from && !isUsed(to - 1)) to--;
    this.#reshape(from, to - from);
  }

  #reshape(first: number, width: number): void {
    const reshaped = packedCounts(this.#spans.length * width, this.#counts);
    for (let place = 0; place < this.#places(); place++) {
      const count = countAt(this.#counts, place);
      const column = (place % this.#width) + this.#first - first;
      if (count > 0) putCount(reshaped, Math.floor(place / this.#width) * width + column, count);
    }
    this.#counts = reshaped;
    this.#first = first;
    this.#width = width;
  }

  /** Rows that do not match, or reach beyond the layout, are of something else: nothing is known then. */
  #restore({ spans, first, counts }: SpanHistogramState): void {
    const width = spans.length === 0 ? 0 : counts.length / spans.length;
    const isWhole = Number.isInteger(width) && counts.length === width * spans.length;
    if (!isWhole || spans.length > this.#most || first + width > this.layout.count) return;
    this.#spans = [...spans];
    this.#counts = packedCounts(counts.length);
    for (const [place, count] of counts.entries()) this.#counts = putCount(this.#counts, place, count);
    this.#first = first;
    this.#width = width;
    this.#totals = spans.map((_, row) => sumOf(counts.slice(row * width, (row + 1) * width)));
    this.#total = sumOf(this.#totals);
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

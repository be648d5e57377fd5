/** The usage to be expected in the next hours, as shares of time: that of the last day or so. */
import type { BucketLayout } from '../../lib/bucket-layout.ts';
import type { SpanHistogram } from '../../lib/span-histogram.ts';

/** For `share` of the time usage lies between `low` and `high`, anywhere in it with the same likelihood. */
export interface UsagePiece {
  readonly low: number;
  readonly high: number;
  /** 0..1; the shares of all pieces add up to 1. */
  readonly share: number;
}

export interface UsageDistribution {
  /** In ascending order, not overlapping; never empty. */
  readonly pieces: readonly UsagePiece[];
  readonly mean: number;
}

/**
 * @param spans how many of the latest spans count, each sample alike.
 * @returns undefined when nothing is known.
 */
export function distributionOf(usage: SpanHistogram, spans: number): UsageDistribution | undefined {
  if (usage.isEmpty()) return undefined;
  const pieces = piecesOf(usage.layout, usage.range().from, usage.shares(spans));
  let mean = 0;
  for (const { low, high, share } of pieces) mean += (share * (low + high)) / 2;
  return { pieces, mean };
}

/**
 * The buckets of a histogram that hold anything, in ascending order.
 * @param shares of the buckets from `first` on, 0..1 each.
 */
export function piecesOf(layout: BucketLayout, first: number, shares: Iterable<number>): UsagePiece[] {
  const pieces: UsagePiece[] = [];
  let bucket = first;
  for (const share of shares) {
    if (share > 0) pieces.push({ low: layout.startOf(bucket), high: layout.startOf(bucket + 1), share });
    bucket++;
  }
  return pieces;
}

/** Expected shortfall of a request. */
export interface Shortfall {
  /** Share of the time usage is above the request, 0..1. */
  readonly exceeded: number;
  /** Usage beyond the request, averaged over all time. */
  readonly missing: number;
}

export function shortfallOf({ pieces }: UsageDistribution, request: number): Shortfall {
  let exceeded = 0;
  let missing = 0;
  for (const { low, high, share } of pieces) {
    if (high <= request) continue;
    const from = Math.max(low, request);
    // The part of the piece above the request, and how far above it lies on average.
    const above = (share * (high - from)) / (high - low);
    exceeded += above;
    missing += above * ((from + high) / 2 - request);
  }
  return { exceeded, missing };
}

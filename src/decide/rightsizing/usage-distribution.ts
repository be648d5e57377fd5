/** The usage to be expected in the next hours, as shares of time: that of the last day or so. */
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
  const { layout } = usage;
  const { from } = usage.range();
  const pieces: UsagePiece[] = [];
  let mean = 0;
  for (const [column, share] of usage.shares(spans).entries()) {
    if (share <= 0) continue;
    const low = layout.startOf(from + column);
    const high = layout.startOf(from + column + 1);
    pieces.push({ low, high, share });
    mean += (share * (low + high)) / 2;
  }
  return { pieces, mean };
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

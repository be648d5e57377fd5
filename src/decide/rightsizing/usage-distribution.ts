/** The usage to be expected in the next hours, as shares of time: what is usual, blended with what goes on now. */
import type { DecayingHistogram } from '../../lib/histogram.ts';

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
  /** Mean of what is usual: what goes on now does not move the yardstick it is measured with. */
  readonly mean: number;
}

/**
 * @param recentShare weight of `recent` in the blend, 0..1.
 * @returns undefined when nothing is known. Where only one of the two has samples, it counts alone.
 */
export function blendUsage(
  usual: DecayingHistogram,
  recent: DecayingHistogram,
  recentShare: number,
): UsageDistribution | undefined {
  if (usual.isEmpty() && recent.isEmpty()) return undefined;
  const weight = usual.isEmpty() ? 1 : recent.isEmpty() ? 0 : recentShare;
  const { layout } = usual;
  const steady = usual.isEmpty() ? recent : usual;
  const pieces: UsagePiece[] = [];
  let mean = 0;
  const [one, other] = [usual.range(), recent.range()];
  const to = Math.max(one.to, other.to);
  for (let index = Math.min(one.from, other.from); index < to; index++) {
    const share = (1 - weight) * usual.share(index) + weight * recent.share(index);
    if (share <= 0) continue;
    const low = layout.startOf(index);
    const high = layout.startOf(index + 1);
    pieces.push({ low, high, share });
    mean += (steady.share(index) * (low + high)) / 2;
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

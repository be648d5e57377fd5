/**
 * The CostAware strategy: the request with the least expected cost. Capacity that is reserved costs, whether used or not;
 * time in which the container wants more than it reserved costs more. One rule instead of a percentile: where usage is
 * steady it covers nearly all of it, for the next step up costs little; where rare bursts are ten times what is usual, it
 * leaves them to the capacity that others leave free.
 */
import { type Shortfall, shortfallOf, type UsageDistribution } from './usage-distribution.ts';

export interface CostWeights {
  /** What an hour with usage above the request costs, in hours of the container's mean usage and `base`. */
  readonly exceeded: number;
  /** Millicores that cost next to nothing: without them, containers that use a few would be sized to the last one. */
  readonly base: number;
  /** What a unit of usage beyond the request costs, in units reserved for the same time. */
  readonly missing: number;
}

export interface CostedRequest extends Shortfall {
  readonly request: number;
  /** In the unit of the request: what is reserved, plus the price of the expected shortfall. */
  readonly cost: number;
}

export function costOf(usage: UsageDistribution, request: number, weights: CostWeights): CostedRequest {
  const shortfall = shortfallOf(usage, request);
  return { ...shortfall, request, cost: price(usage, request, shortfall, weights) };
}

function price(usage: UsageDistribution, request: number, shortfall: Shortfall, weights: CostWeights): number {
  return (
    request + weights.exceeded * (usage.mean + weights.base) * shortfall.exceeded + weights.missing * shortfall.missing
  );
}

/** Places within a piece that are tried: its end, and three between. Finer gains less than a hundredth of the piece's width. */
const STEPS = 4;

/** Tries every value at which the cost can be lowest, from the highest usage down, carrying the shortfall along. */
export function cheapestRequest(usage: UsageDistribution, weights: CostWeights): CostedRequest {
  let best: CostedRequest = { request: 0, exceeded: 1, missing: usage.mean, cost: Number.POSITIVE_INFINITY };
  let above = 0;
  /** Share times usage of all pieces above. */
  let usageAbove = 0;
  for (const { low, high, share } of usage.pieces.toReversed()) {
    for (let step = STEPS; step >= 1; step--) {
      const rest = 1 - step / STEPS;
      const request = high - rest * (high - low);
      const exceeded = above + share * rest;
      const missing = usageAbove - above * request + (share * rest * (high - request)) / 2;
      const cost = price(usage, request, { exceeded, missing }, weights);
      if (cost < best.cost) best = { request, exceeded, missing, cost };
    }
    above += share;
    usageAbove += (share * (low + high)) / 2;
  }
  return best;
}

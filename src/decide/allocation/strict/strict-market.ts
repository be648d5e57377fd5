/**
 * `compat: strict`: the market of MBCAS as shipped, faults included, so that recorded trajectories can be compared with
 * ours. It can promise more than there is and give a pod more than its claim; nothing else uses it.
 */
import type { Millicores } from '../../../lib/units.ts';

export interface StrictBid {
  readonly uid: string;
  /** Read by the price only; the solver shares out up to `max`. */
  readonly demand: Millicores;
  readonly min: Millicores;
  readonly max: Millicores;
  readonly weight: number;
}

const FLOOR: Millicores = 10;

/** Rounds of proportional hand-outs, each truncated, until nothing moves. May leave up to n - 1 millicores unused. */
export function strictSolve(bids: readonly StrictBid[], capacity: Millicores): Millicores[] {
  const least = bids.reduce((sum, { min }) => sum + min, 0);
  if (least > capacity) return strictOverload(bids, capacity, least);
  const shares = bids.map(({ min, max }) => Math.min(min, max));
  let left = capacity - least;
  let open = bids.map((_, index) => index).filter((index) => (bids[index]?.max ?? 0) > (bids[index]?.min ?? 0));
  const weightOf = (index: number): number => bids[index]?.weight ?? 0;
  while (left > 0 && open.length > 0) {
    const total = open.reduce((sum, index) => sum + weightOf(index), 0);
    let given = 0;
    for (const index of open) {
      const part = total === 0 ? Math.floor(left / open.length) : Math.floor((left * weightOf(index)) / total);
      const before = shares[index] ?? 0;
      const after = total === 0 ? before + part : Math.min(bids[index]?.max ?? 0, before + part);
      shares[index] = after;
      given += after - before;
    }
    if (given === 0 || total === 0) break;
    left -= given;
    open = open.filter((index) => (shares[index] ?? 0) < (bids[index]?.max ?? 0));
  }
  return shares;
}

function strictOverload(bids: readonly StrictBid[], capacity: Millicores, least: Millicores): Millicores[] {
  return bids.map(({ min, weight }) => Math.max(FLOOR, Math.floor((min * weight * capacity) / least)));
}

/** Excess demand by capacity times the mean weight: not the multiplier of anything. */
export function strictPrice(bids: readonly StrictBid[], capacity: Millicores): number {
  const demand = bids.reduce((sum, bid) => sum + bid.demand, 0);
  if (bids.length === 0 || demand <= capacity) return 0;
  const mean = bids.reduce((sum, { weight }) => sum + weight, 0) / bids.length;
  return ((demand - capacity) / capacity) * mean;
}

export interface StrictPod {
  readonly usage: Millicores;
  /** Throttling in its units: a tenth of raw throttled time by usage is 1. */
  readonly throttle: number;
  readonly allocation: Millicores;
  readonly inGrace: boolean;
}

const SHORT = 0.05;
const MOST: Millicores = 10_000;

/**
 * What its agent bids while it has learned nothing, where every tie goes to `aggressive`: one and a half times the
 * usage at weight 1.2. Its learning is not rebuilt (adr): it neither converged nor was fair.
 */
export function strictBid(uid: string, { usage, throttle, allocation, inGrace }: StrictPod, price = 0): StrictBid {
  const base = Math.max(usage, FLOOR);
  const restraint = price > 0.3 ? Math.max(0.5, 1 - price / 2) : 1;
  const isShort = throttle > SHORT;
  const growth = isShort ? Math.min(3, 1 + 2 * throttle) : 1;
  const demand = Math.min(base * 1.5 * restraint * growth, isShort ? 10 * base : Number.POSITIVE_INFINITY);
  const need = Math.max(FLOOR, usage * 1.15);
  const min = Math.floor(inGrace ? Math.max(need, allocation) : need);
  const max = isShort
    ? Math.min(MOST, Math.max(10 * usage, min + 100))
    : usage < 20
      ? Math.max(usage * 1.1, min + 10)
      : Math.min(demand * 1.1, MOST);
  return { uid, demand: Math.floor(demand), min, max: Math.floor(max), weight: 1.2 };
}

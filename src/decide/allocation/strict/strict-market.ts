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

/**
 * Rounds of proportional hand-outs, each truncated, until nothing moves. May leave up to n - 1 millicores unused. A pod
 * whose `max` is below its `min` is cut to `max` in the first round, if there is one, and what it had goes to the others.
 */
export function strictSolve(bids: readonly StrictBid[], capacity: Millicores): Millicores[] {
  const least = sumOf(bids, ({ min }) => min);
  if (least > capacity) return strictOverload(bids, capacity);
  const seats = bids.map(({ min, max, weight }) => ({ share: min, max, weight }));
  let open = seats;
  let left = capacity - least;
  while (left > 0 && open.length > 0) {
    const total = sumOf(open, ({ weight }) => weight);
    if (total === 0) {
      const part = Math.floor(left / open.length);
      for (const seat of open) seat.share += part;
      break;
    }
    let given = 0;
    for (const seat of open) {
      const share = Math.min(seat.max, seat.share + Math.trunc(left * (seat.weight / total)));
      given += share - seat.share;
      seat.share = share;
    }
    if (given === 0) break;
    left -= given;
    open = open.filter(({ share, max }) => share < max);
  }
  return seats.map(({ share }) => share);
}

/** By claim times weight: a heavy pod can get more than it claimed, and the floor can make the sum exceed the capacity. */
function strictOverload(bids: readonly StrictBid[], capacity: Millicores): Millicores[] {
  const weighted = sumOf(bids, ({ min, weight }) => min * weight);
  if (weighted === 0) return bids.map(() => Math.floor(capacity / bids.length));
  const scale = capacity / weighted;
  return bids.map(({ min, weight }) => Math.max(FLOOR, Math.trunc(min * weight * scale)));
}

function sumOf<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0);
}

/** Excess demand by capacity times the mean weight: not the multiplier of anything. */
export function strictPrice(bids: readonly StrictBid[], capacity: Millicores): number {
  const demand = sumOf(bids, (bid) => bid.demand);
  if (bids.length === 0 || demand <= capacity) return 0;
  const mean = sumOf(bids, ({ weight }) => weight) / bids.length;
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
/** Prices above it are heeded. */
const DEAR = 0.3;

/**
 * What its agent bids while it has learned nothing. Ties go to `aggressive`: one and a half times the usage at weight
 * 1.2. A price makes `conservative` look better at once: the usage at weight 0.8. Its learning is not rebuilt (adr): it
 * neither converged nor was fair. Cut to whole millicores at every step, as it does.
 */
export function strictBid(uid: string, { usage, throttle, allocation, inGrace }: StrictPod, price = 0): StrictBid {
  const isDear = price > DEAR;
  const action = isDear ? { multiple: 1, weight: 0.8 } : { multiple: 1.5, weight: 1.2 };
  const base = Math.max(usage, FLOOR);
  const isShort = throttle > SHORT;
  let demand = Math.trunc(base * action.multiple);
  if (isDear) demand = Math.trunc(demand * Math.max(0.5, 1 - price / 2));
  if (isShort) demand = Math.min(Math.trunc(demand * Math.min(3, 1 + 2 * throttle)), 10 * base);
  const need = Math.max(FLOOR, Math.trunc(usage * 1.15));
  const min = inGrace ? Math.max(need, allocation) : need;
  const max = isShort
    ? Math.max(min + 100, Math.min(MOST, 10 * usage))
    : usage < 2 * FLOOR
      ? Math.max(min + 10, Math.trunc(usage * 1.1))
      : Math.min(MOST, Math.trunc(demand * 1.1));
  return { uid, demand, min, max, weight: action.weight };
}

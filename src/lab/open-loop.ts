/** Open-loop load: requests come at a rate that nothing the server does can change, so that waiting is seen in full. */
import type { Random } from '../lib/random.ts';
import type { Millis } from '../lib/units.ts';

/** One request, made up before the run. */
export interface Arrival {
  readonly atMillis: Millis;
  /** CPU this request wants. */
  readonly workMillis: Millis;
}

export interface ArrivalOptions {
  readonly ratePerSecond: (millis: Millis) => number;
  /** Mean of an exponential distribution. */
  readonly workMillis: Millis;
  readonly from: Millis;
  readonly until: Millis;
  readonly random: Random;
}

/** How fine a changing rate is followed. */
const STEP_MILLIS: Millis = 1000;

/** A Poisson process; equal seeds give equal requests whatever serves them. */
export function arrivalsOf({ ratePerSecond, workMillis, from, until, random }: ArrivalOptions): Arrival[] {
  const arrivals: Arrival[] = [];
  for (let start = from; start < until; start += STEP_MILLIS) {
    const end = Math.min(until, start + STEP_MILLIS);
    const ratePerMilli = ratePerSecond(start) / 1000;
    if (!(ratePerMilli > 0)) continue;
    // A Poisson process has no memory: it may begin anew in each step.
    for (let at = start + exponential(random, 1 / ratePerMilli); at < end; at += exponential(random, 1 / ratePerMilli))
      arrivals.push({ atMillis: at, workMillis: exponential(random, workMillis) });
  }
  return arrivals;
}

const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random.next());

/** What a simulated container wants over time: curves as pure functions of the moment, so that any instant can be asked. */
import type { EpochMillis, Millis } from '../../lib/units.ts';

/** All a curve may depend on: equal moments have equal loads. */
export interface LoadMoment {
  readonly now: EpochMillis;
  /** Since the container's process started; begins anew with each restart. */
  readonly ageMillis: Millis;
  /** Tells one container's chance from another's. */
  readonly seed: number;
}

/** Millicores or bytes wanted at a moment; never negative. */
export type LoadCurve = (moment: LoadMoment) => number;

const DAY_MILLIS: Millis = 86_400_000;
/** How often the value of {@link noise} changes unless said otherwise. */
const NOISE_STEP_MILLIS: Millis = 10_000;

export function constant(amount: number): LoadCurve {
  return () => amount;
}

/** `high` for the first half of each period and `low` for the second; periods begin at the epoch, moved later by `phaseMillis`. */
export function square(low: number, high: number, periodMillis: Millis, phaseMillis: Millis = 0): LoadCurve {
  return ({ now }) => (remainder(now - phaseMillis, periodMillis) < periodMillis / 2 ? high : low);
}

/** A smooth day: `high` at `peakMillis` after midnight UTC, `low` half a day away from it. */
export function diurnal(low: number, high: number, peakMillis: Millis = DAY_MILLIS / 2): LoadCurve {
  return ({ now }) => low + ((high - low) * (1 + Math.cos((2 * Math.PI * (now - peakMillis)) / DAY_MILLIS))) / 2;
}

/** Mostly `base`; bursts of `peak` last `lengthMillis` and come every `everyMillis` on average, by chance. */
export function bursty(base: number, peak: number, everyMillis: Millis, lengthMillis: Millis): LoadCurve {
  const chance = lengthMillis / everyMillis;
  return ({ now, seed }) => (chanceOf(seed, Math.floor(now / lengthMillis)) < chance ? peak : base);
}

/** Evenly spread over `mean ± deviation`, another value each step; never below 0. */
export function noise(mean: number, deviation: number, stepMillis: Millis = NOISE_STEP_MILLIS): LoadCurve {
  return ({ now, seed }) => Math.max(0, mean + deviation * (2 * chanceOf(seed, Math.floor(now / stepMillis)) - 1));
}

/** `peak` for the first `durationMillis` of a process, `steady` from then on. */
export function startup(steady: number, peak: number, durationMillis: Millis): LoadCurve {
  return ({ ageMillis }) => (ageMillis < durationMillis ? peak : steady);
}

/** `before` until the process is `atMillis` old, `after` from then on. */
export function step(before: number, after: number, atMillis: Millis): LoadCurve {
  return ({ ageMillis }) => (ageMillis < atMillis ? before : after);
}

/** Grows by `perHour` from `base` as long as the process lives, up to `most`. */
export function leak(base: number, perHour: number, most = Number.POSITIVE_INFINITY): LoadCurve {
  return ({ ageMillis }) => Math.min(most, base + (perHour * ageMillis) / 3_600_000);
}

/** A heap that is never given back: from `start` towards `ceiling`, 95 % of the way after `durationMillis`. */
export function plateau(start: number, ceiling: number, durationMillis: Millis): LoadCurve {
  return ({ ageMillis }) => ceiling - (ceiling - start) * Math.exp((-3 * ageMillis) / durationMillis);
}

/** @param curves at least one */
export function sum(curves: readonly LoadCurve[]): LoadCurve {
  const [only] = curves;
  if (curves.length === 1 && only !== undefined) return only;
  // Each part has chances of its own, or two bursts would always come together.
  return ({ now, ageMillis, seed }) => {
    let total = 0;
    let own = seed;
    for (const curve of curves) {
      total += curve({ now, ageMillis, seed: own });
      own += 7919;
    }
    return total;
  };
}

function remainder(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

/** A number in [0, 1) that depends on nothing but the two: the same moment always has the same luck. */
function chanceOf(seed: number, slot: number): number {
  let mixed = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ slot ^ Math.imul(Math.floor(slot / 4_294_967_296), 31)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296;
}

/** A seed from text, e.g. a pod's name (FNV-1a). */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

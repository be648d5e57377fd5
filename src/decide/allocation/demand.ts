/**
 * What a pod could use, from what it does use: up at once when the load has changed, down slowly, and still while usage
 * only varies as it always does. Throttling and pressure say that usage is cut short; usage near a limit says nothing
 * about demand, so the want grows until usage parts from the limit.
 */
import type { EpochMillis, Millicores, Millis } from '../../lib/units.ts';
import type { DemandRules } from './rules.ts';
import { isOther, nextLevel, type UsageLevel } from './usage-level.ts';

/** One pod over the time since the last tick. */
export interface Measurement {
  readonly usage: Millicores;
  /** Throttled periods by all periods, 0..1; undefined where no period had work or there is no quota. */
  readonly throttledRatio: number | undefined;
  /**
   * The same of containers that get no more whatever the pod gets, see `fixedContainers`: not of `throttledRatio`, and
   * only told.
   */
  readonly fixedRatio?: number | undefined;
  /**
   * Time somebody waited for CPU (PSI some, change of `total`) by the time passed, 0..1; undefined where not measured.
   * Where throttling that is only told has made some of it, of the containers beside.
   */
  readonly pressure: number | undefined;
  /** Usage of each container, for the split; how it is throttled itself is only told. */
  readonly containers?: readonly {
    readonly name: string;
    readonly usage: Millicores;
    readonly throttledRatio?: number;
  }[];
}

export interface DemandContext {
  /** What the pod's share is now: its request, or its limit with `apply: limits`. */
  readonly share: Millicores;
  /** The quota in force; undefined: none. */
  readonly limit: Millicores | undefined;
  /** Seen first, and yet its share is what somebody found it to want: so it counts as wanted until now. */
  readonly isInherited?: boolean;
  readonly now: EpochMillis;
}

/** Carried from tick to tick. */
export interface DemandState {
  readonly want: Millicores;
  /** When the want was last needed in full. */
  readonly raisedAt: EpochMillis;
  readonly calmTicks: number;
  /** The share at the last tick, and the shortage then: a shortage right after a cut takes the cut back. */
  readonly share: Millicores;
  readonly shortage: number;
  /** The most it wanted lately, fading: what comes back in bursts gets at once what it needed last time. */
  readonly peak: Millicores;
  readonly level: UsageLevel;
  /**
   * How long a want holds before it falls: longer each time that a fall brought the shortage back under the same load.
   */
  readonly holdMillis: Millis;
  readonly hasFallen: boolean;
  readonly at: EpochMillis;
}

export interface Demand {
  readonly state: DemandState;
  readonly want: Millicores;
  /** 0: none; otherwise the throttled ratio, or the pressure above the threshold. */
  readonly shortage: number;
  /** Why the want is above what usage alone says. */
  readonly cause: 'usage' | 'throttled' | 'pressure' | 'saturated' | 'rolled-back' | 'recalled' | 'decaying';
}

/**
 * A hold is so many times as long after a fall that was one too many, so that falls and raises do not go on for ever.
 */
const RELAPSE = 4;

/**
 * One tick. Pure: state in, state out, so that agent, lab and tests run the same loop. Constant load ends in a constant
 * want (P18): usage within its own noise moves nothing, and a fall that proves wrong makes the next one wait longer.
 */
export function nextDemand(
  previous: DemandState | undefined,
  measured: Measurement,
  context: DemandContext,
  rules: DemandRules,
): Demand {
  const { share, now } = context;
  const level = nextLevel(previous?.level, measured.usage, rules.level);
  const raw = rawWant(measured, context, level, previous, rules);
  const { shortage } = raw;
  const kept = { share, shortage, level, at: now };
  if (previous === undefined) {
    const hold = { holdMillis: rules.calmMillis, hasFallen: false };
    const want = context.isInherited === true ? Math.max(raw.want, share) : raw.want;
    const state = { ...kept, ...hold, want, raisedAt: now, calmTicks: 0, peak: want };
    return { state, want, shortage, cause: want === raw.want ? raw.cause : 'decaying' };
  }
  const peak = fadedPeak(previous, now, rules);
  const { target, cause } = askedFor({ previous, raw, level, peak, usage: measured.usage, share }, rules);
  const isOtherLoad = isOther(previous.level, level);
  const holdMillis = isOtherLoad ? rules.calmMillis : previous.holdMillis;
  if (target >= previous.want) {
    const isRelapse = previous.hasFallen && shortage > 0 && !isOtherLoad;
    const hold = { holdMillis: isRelapse ? RELAPSE * holdMillis : holdMillis, hasFallen: false };
    const state = { ...kept, ...hold, want: target, raisedAt: now, calmTicks: 0, peak: Math.max(peak, target) };
    return { state, want: target, shortage, cause };
  }
  const calmTicks = shortage > 0 ? 0 : previous.calmTicks + 1;
  const isRested = calmTicks >= rules.calmTicks && Math.abs(now - previous.raisedAt) >= holdMillis;
  const mayFall = isRested && previous.want > covering(level, rules.level.high, rules);
  const least = Math.max(target, covering(level, rules.level.middle, rules));
  const want = mayFall ? Math.max(least, Math.floor(previous.want * (1 - rules.downStep))) : previous.want;
  const hold = { holdMillis, hasFallen: previous.hasFallen || want < previous.want };
  const { raisedAt } = previous;
  const state = { ...kept, ...hold, want, raisedAt, calmTicks, peak: Math.max(peak, raw.want) };
  return { state, want, shortage, cause: want === target ? cause : 'decaying' };
}

interface Question {
  readonly previous: DemandState;
  readonly raw: RawWant;
  readonly level: UsageLevel;
  readonly peak: Millicores;
  readonly usage: Millicores;
  readonly share: Millicores;
}

/** The most that anything asks for now; where that is less than the want before, the want may hold. */
function askedFor(
  { previous, raw, level, peak, usage, share }: Question,
  rules: DemandRules,
): { readonly target: Millicores; readonly cause: Demand['cause'] } {
  const { low, middle, knownAfterTicks } = rules.level;
  // One tick counts where the load has changed, or where the pod is held back; else it is noise.
  const asked = level.samples === 1 || raw.isPressed || usage > previous.want ? raw.want : 0;
  const isTooLow = (deviations: number): boolean => previous.want < covering(level, deviations, rules);
  // As soon as a level is known its want is set right; later it takes more to move it.
  const isSet = level.samples === knownAfterTicks ? isTooLow(middle) : level.samples > knownAfterTicks && isTooLow(low);
  const usual = isSet ? covering(level, middle, rules) : 0;
  const recalled = raw.isPressed ? Math.floor(peak) : 0;
  // Captain's rule: a shortage that begins with a cut returns the cut and once more as much.
  const cut = previous.share - share;
  const isRolledBack = cut > 0 && previous.shortage === 0 && raw.shortage > rules.throttledRatio;
  const returned = isRolledBack ? share + 2 * cut : 0;
  const target = Math.max(asked, usual, returned, recalled);
  if (target <= Math.max(asked, usual)) return { target, cause: raw.cause };
  return { target, cause: target === returned ? 'rolled-back' : 'recalled' };
}

/** What a pod wants that uses this much more than usual. */
function covering({ mean, deviation }: UsageLevel, deviations: number, rules: DemandRules): Millicores {
  return wantOf(mean + deviations * deviation, rules);
}

/** Usage, more of it as it grows, and something for who uses nothing yet. */
function wantOf(usage: Millicores, { usageFactor, headroom }: DemandRules): Millicores {
  return Math.ceil(usageFactor * usage + headroom);
}

function fadedPeak({ peak, at }: DemandState, now: EpochMillis, { peakHalfLifeMillis }: DemandRules): number {
  return peak * 0.5 ** (Math.max(0, now - at) / peakHalfLifeMillis);
}

interface RawWant extends Pick<Demand, 'want' | 'shortage' | 'cause'> {
  /** It is held back, or uses what it has: what it could use shows now. */
  readonly isPressed: boolean;
}

/**
 * By this tick, but that pressure of a pod with room in its share is noise, unless the room is usually used, and it
 * lasts.
 */
function rawWant(
  { usage, throttledRatio, pressure }: Measurement,
  { share, limit }: DemandContext,
  { mean }: UsageLevel,
  previous: DemandState | undefined,
  rules: DemandRules,
): RawWant {
  const byUsage = wantOf(usage, rules);
  const isAtShare = usage >= rules.saturation * share;
  const grown = (shortage: number): number =>
    Math.max(byUsage, Math.ceil(Math.max(share, usage) * (1 + Math.min(1, 2 * shortage))));
  if (throttledRatio !== undefined && throttledRatio > rules.throttledRatio) {
    return { want: grown(throttledRatio), shortage: throttledRatio, cause: 'throttled', isPressed: true };
  }
  // A throttled pod shows pressure of its own making: the two are one signal.
  const isThrottled = (throttledRatio ?? 0) > 0;
  const isBusy = isAtShare || Math.min(usage, mean) >= rules.pressureNeedsUsage * share;
  if (!isThrottled && isBusy && pressure !== undefined && pressure > rules.pressure) {
    const shortage = pressure - rules.pressure;
    const isPressed = isAtShare || (previous?.shortage ?? 0) > 0;
    return { want: isPressed ? grown(shortage) : byUsage, shortage, cause: 'pressure', isPressed };
  }
  const filled = limit === undefined || limit === 0 ? 0 : usage / limit;
  if (limit !== undefined && filled >= rules.saturation) {
    const degree = Math.min(1, (filled - rules.saturation) / (1 - rules.saturation));
    const want = Math.max(byUsage, Math.ceil(limit * (1.5 + 0.5 * degree)));
    return { want, shortage: 0, cause: 'saturated', isPressed: true };
  }
  return { want: byUsage, shortage: 0, cause: 'usage', isPressed: isAtShare };
}

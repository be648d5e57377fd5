/**
 * What a pod could use, from what it does use: up at once, down slowly. Throttling and pressure say that usage is cut short;
 * usage near a limit says nothing about demand, so the want grows until usage parts from the limit.
 */
import type { EpochMillis, Millicores } from '../../lib/units.ts';
import type { DemandRules } from './rules.ts';

/** One pod over the time since the last tick. */
export interface Measurement {
  readonly usage: Millicores;
  /** Throttled periods by all periods, 0..1; undefined where no period had work or there is no quota. */
  readonly throttledRatio: number | undefined;
  /** Time somebody waited for CPU (PSI some, change of `total`) by the time passed, 0..1; undefined where not measured. */
  readonly pressure: number | undefined;
  /** Usage of each container, for the split. */
  readonly containers?: readonly { readonly name: string; readonly usage: Millicores }[];
}

export interface DemandContext {
  /** What the pod's share is now: its request, or its limit with `apply: limits`. */
  readonly share: Millicores;
  /** The quota in force; undefined: none. */
  readonly limit: Millicores | undefined;
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

export function nextDemand(
  previous: DemandState | undefined,
  measured: Measurement,
  context: DemandContext,
  rules: DemandRules,
): Demand {
  const raw = rawWant(measured, context, rules);
  const { shortage } = raw;
  const { share, now } = context;
  const peak = previous === undefined ? 0 : fadedPeak(previous, now, rules);
  const isPressed = shortage > 0 || measured.usage >= rules.saturation * share;
  const recalled = isPressed ? Math.floor(peak) : 0;
  // Captain's rule: a shortage that begins with a cut returns the cut and once more as much.
  const cut = previous === undefined ? 0 : previous.share - share;
  const isRolledBack = previous !== undefined && cut > 0 && previous.shortage === 0 && shortage > rules.throttledRatio;
  const returned = isRolledBack ? share + 2 * cut : 0;
  const target = Math.max(raw.want, returned, recalled);
  const cause = target === raw.want ? raw.cause : target === returned ? 'rolled-back' : 'recalled';
  const kept = { share, shortage, at: now };
  if (previous === undefined || target >= previous.want) {
    const state = { ...kept, want: target, raisedAt: now, calmTicks: 0, peak: Math.max(peak, target) };
    return { state, want: target, shortage, cause };
  }
  const calmTicks = shortage > 0 ? 0 : previous.calmTicks + 1;
  const mayFall = calmTicks >= rules.calmTicks && now - previous.raisedAt >= rules.calmMillis;
  const want = mayFall ? Math.max(target, Math.floor(previous.want * (1 - rules.downStep))) : previous.want;
  const state = { ...kept, want, raisedAt: previous.raisedAt, calmTicks, peak: Math.max(peak, raw.want) };
  return { state, want, shortage, cause: want === target ? cause : 'decaying' };
}

function fadedPeak({ peak, at }: DemandState, now: EpochMillis, { peakHalfLifeMillis }: DemandRules): number {
  return peak * 0.5 ** (Math.max(0, now - at) / peakHalfLifeMillis);
}

function rawWant(
  { usage, throttledRatio, pressure }: Measurement,
  { share, limit }: DemandContext,
  rules: DemandRules,
): Pick<Demand, 'want' | 'shortage' | 'cause'> {
  const byUsage = Math.ceil(rules.usageFactor * usage + rules.headroom);
  const grown = (shortage: number): number => Math.ceil(Math.max(share, usage) * (1 + Math.min(1, 2 * shortage)));
  if (throttledRatio !== undefined && throttledRatio > rules.throttledRatio) {
    return { want: Math.max(byUsage, grown(throttledRatio)), shortage: throttledRatio, cause: 'throttled' };
  }
  // A throttled pod shows pressure of its own making: the two are one signal.
  const isThrottled = (throttledRatio ?? 0) > 0;
  const isBusy = usage >= rules.pressureNeedsUsage * share;
  if (!isThrottled && isBusy && pressure !== undefined && pressure > rules.pressure) {
    const shortage = pressure - rules.pressure;
    return { want: Math.max(byUsage, grown(shortage)), shortage, cause: 'pressure' };
  }
  const filled = limit === undefined || limit === 0 ? 0 : usage / limit;
  if (limit !== undefined && filled >= rules.saturation) {
    const degree = Math.min(1, (filled - rules.saturation) / (1 - rules.saturation));
    return { want: Math.max(byUsage, Math.ceil(limit * (1.5 + 0.5 * degree))), shortage: 0, cause: 'saturated' };
  }
  return { want: byUsage, shortage: 0, cause: 'usage' };
}

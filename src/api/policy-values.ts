/** The texts of an OptimizationPolicy that stand for numbers: durations with days and weeks, percentiles, shares. */
import { parseDuration } from '../lib/duration.ts';
import { InvalidValueError } from '../lib/errors.ts';
import type { Millis, Percent } from '../lib/units.ts';

export const POLICY_DURATION_ACCEPTED =
  'a duration such as 30s, 5m, 24h, 1h30m, 7d or 2w (units w, d, h, m, s, ms, us, ns)';
/** What the schema lets through. Negative durations say nothing here, so the minus of Go's grammar is left out. */
export const POLICY_DURATION_PATTERN = /^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h|d|w))+)$/;

const LONG_TERM = /(\d+\.?\d*|\.\d+)([dw])/g;
const HOURS_OF: Readonly<Record<string, number>> = { d: 24, w: 7 * 24 };

/**
 * Go's grammar of durations, and besides `d` for 24 hours and `w` for 7 days, which OptiPod's documentation uses.
 * @throws InvalidValueError for anything else, negative durations included.
 */
export function parsePolicyDuration(text: string): Millis {
  const refuse = (): never => {
    throw new InvalidValueError('duration', text, POLICY_DURATION_ACCEPTED);
  };
  if (!POLICY_DURATION_PATTERN.test(text)) return refuse();
  const inHours = text.replace(
    LONG_TERM,
    (_, amount: string, unit: string) => `${(Number(amount) * (HOURS_OF[unit] ?? 0)).toFixed(9)}h`,
  );
  try {
    return parseDuration(inHours);
  } catch {
    return refuse();
  }
}

/** `P90` is 90. */
export function percentOfPercentile(text: string): Percent {
  return Number(text.slice(1));
}

export const SHARE_ACCEPTED = 'a percentage such as 10% or 2.5%';
export const SHARE_PATTERN = /^[0-9]{1,4}(\.[0-9]{1,3})?%$/;

/** `10%` is 0.1. @throws InvalidValueError for anything else. */
export function parseShare(text: string): number {
  if (!SHARE_PATTERN.test(text)) throw new InvalidValueError('share', text, SHARE_ACCEPTED);
  return Number(text.slice(0, -1)) / 100;
}

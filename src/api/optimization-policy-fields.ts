/** Field types of an OptimizationPolicy that stand for numbers: durations and shares. */
import * as z from 'zod';
import {
  POLICY_DURATION_ACCEPTED,
  POLICY_DURATION_PATTERN,
  parsePolicyDuration,
  parseShare,
  SHARE_ACCEPTED,
  SHARE_PATTERN,
} from './policy-values.ts';

/**
 * A duration, parsed to milliseconds.
 * @param zero what `0s` means: the default, for typed Go clients send it for fields nobody set, or really no time.
 */
export function durationField(fallback: string, description: string, zero: 'default' | 'zero' = 'default') {
  const fallbackMillis = parsePolicyDuration(fallback);
  const message = `is not a duration; accepted: ${POLICY_DURATION_ACCEPTED}`;
  return z
    .string({ error: message })
    .max(64)
    .regex(POLICY_DURATION_PATTERN, { error: message })
    .transform((text, context) => {
      try {
        const millis = parsePolicyDuration(text);
        return millis === 0 && zero === 'default' ? fallbackMillis : millis;
      } catch {
        context.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
    })
    .prefault(fallback)
    .meta({ description, default: fallback });
}

/** A percentage, parsed to a share: `10%` is 0.1. */
export function shareField(fallback: string, description: string) {
  return optionalShare(description).prefault(fallback).meta({ description, default: fallback });
}

/** A percentage without a default. */
export function optionalShare(description: string) {
  return z
    .string({ error: `is not a share; accepted: ${SHARE_ACCEPTED}` })
    .max(16)
    .regex(SHARE_PATTERN, { error: `is not a share; accepted: ${SHARE_ACCEPTED}` })
    .transform(parseShare)
    .meta({ description });
}

/** How a rule says no. */

import { formatDuration } from '../lib/duration.ts';
import { type ReasonNameOf, type ReasonValues, renderReason } from '../lib/reasons.ts';
import type { Millis } from '../lib/units.ts';
import type { EvictCheck, Objection, Rule } from './context.ts';
import { isEviction } from './context.ts';

/** @param retryAfterMillis see {@link Objection}. */
export function object<Name extends ReasonNameOf<'block'>>(
  name: Name,
  values: ReasonValues<Name>,
  retryAfterMillis?: Millis,
): Objection {
  return { reason: name, message: renderReason(name, values), retryAfterMillis };
}

/** A rule that only looks at decisions that end a pod. */
export function evictRule(name: string, why: string, check: EvictCheck): Rule {
  return {
    name,
    why,
    appliesTo: 'evict',
    check: (subject, context) => (isEviction(subject) ? check(subject, context) : undefined),
  };
}

/** For people: whole seconds, at least one. */
export function inWords(millis: Millis): string {
  return formatDuration(Math.max(1000, Math.ceil(millis / 1000) * 1000));
}

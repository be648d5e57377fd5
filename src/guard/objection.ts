/**
 * How a rule says no, and makers of rules by what they look at: each rule is checked only with decisions of its kind.
 */

import { formatDuration } from '../lib/duration.ts';
import { type ReasonNameOf, type ReasonValues, renderAdvice, renderReason } from '../lib/reasons.ts';
import type { Millis } from '../lib/units.ts';
import type {
  DisruptionCheck,
  EndCheck,
  EvictCheck,
  FallbackCheck,
  Objection,
  Rule,
  SizeEvictionCheck,
} from './context.ts';
import { isEviction, isFallback, isSizeEviction } from './context.ts';

/**
 * An objection with the texts of the reason table filled in.
 * @param retryAfterMillis see {@link Objection}; above 0.
 */
export function object<Name extends ReasonNameOf<'block'>>(
  name: Name,
  values: ReasonValues<Name>,
  retryAfterMillis?: Millis,
): Objection {
  return { reason: name, message: renderReason(name, values), advice: renderAdvice(name, values), retryAfterMillis };
}

/** A rule that only looks at moves. */
export function evictRule(name: string, why: string, check: EvictCheck): Rule {
  return {
    name,
    why,
    appliesTo: 'evict',
    check: (subject, context) => (isEviction(subject) ? check(subject, context) : undefined),
  };
}

/** A rule that only looks at fallbacks. */
export function fallbackRule(name: string, why: string, check: FallbackCheck): Rule {
  return {
    name,
    why,
    appliesTo: 'fallback',
    check: (subject, context) => (isFallback(subject) ? check(subject, context) : undefined),
  };
}

/** A rule that only looks at evictions that give the replacement another size. */
export function sizeEvictionRule(name: string, why: string, check: SizeEvictionCheck): Rule {
  return {
    name,
    why,
    appliesTo: 'size',
    check: (subject, context) => (isSizeEviction(subject) ? check(subject, context) : undefined),
  };
}

/** A rule that looks at every eviction of a pod that serves. */
export function disruptionRule(name: string, why: string, check: DisruptionCheck): Rule {
  return {
    name,
    why,
    appliesTo: 'eviction',
    check: (subject, context) => (isEviction(subject) || isSizeEviction(subject) ? check(subject, context) : undefined),
  };
}

/** A rule that looks at every decision that ends a pod. */
export function endRule(name: string, why: string, check: EndCheck): Rule {
  return {
    name,
    why,
    appliesTo: 'end',
    check: (subject, context) =>
      isEviction(subject) || isFallback(subject) || isSizeEviction(subject) ? check(subject, context) : undefined,
  };
}

/** A span for people: rounded up to whole seconds, at least one, so that nobody is told to come back too early. */
export function inWords(millis: Millis): string {
  return formatDuration(Math.max(1000, Math.ceil(millis / 1000) * 1000));
}

/**
 * How a rule says no, and makers of rules by the decisions they are about.
 */

import { formatDuration } from '../lib/duration.ts';
import { type ReasonNameOf, type ReasonValues, renderAdvice, renderReason } from '../lib/reasons.ts';
import type { Millis } from '../lib/units.ts';
import {
  type GuardContext,
  isWithin,
  type NamelessBlock,
  type Objection,
  type Rule,
  type Scope,
  type SubjectOf,
} from './context.ts';

/**
 * An objection with the texts of the reason table filled in.
 * @param retryAfterMillis see {@link Objection}; above 0.
 */
export function object<Name extends ReasonNameOf<'block'>>(
  name: Name,
  values: ReasonValues<Name>,
  retryAfterMillis?: Millis,
): NamelessBlock {
  return { reason: name, message: renderReason(name, values), advice: renderAdvice(name, values), retryAfterMillis };
}

/** A rule is made with its scope: its check is never asked about any other decision. */
type MakeRule<S extends Scope> = (
  name: string,
  why: string,
  check: (subject: SubjectOf<S>, context: GuardContext) => Objection,
) => Rule;

function makerOf<S extends Scope>(appliesTo: S): MakeRule<S> {
  return (name, why, check) => ({
    name,
    why,
    appliesTo,
    check: (subject, context) => (isWithin(appliesTo, subject) ? check(subject, context) : undefined),
  });
}

export const everyRule = makerOf('every');
export const placementRule = makerOf('placement');
export const evictRule = makerOf('evict');
export const fallbackRule = makerOf('fallback');
export const sizeEvictionRule = makerOf('size');
export const disruptionRule = makerOf('eviction');
export const endRule = makerOf('end');

/** A span for people: rounded up to whole seconds, at least one, so that nobody is told to come back too early. */
export function inWords(millis: Millis): string {
  return formatDuration(Math.max(1000, Math.ceil(millis / 1000) * 1000));
}

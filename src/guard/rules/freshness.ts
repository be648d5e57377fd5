/** Nothing is disrupted on data that may be wrong by now: watches end silently (hazard H34). */
import type { Millis } from '../../lib/units.ts';
import type { Freshness } from '../../model/cluster-view.ts';
import type { Objection } from '../context.ts';
import { everyRule, object } from '../objection.ts';

/** A watch that comes back brings what was missed before it is believed, so those events find this still objecting. */
const RETRY_MILLIS: Millis = 10_000;

export const fresh = everyRule(
  'fresh',
  'Every later rule reads the view; they can only be believed when the view can.',
  ({ decision }, { view }) => objectToStale(view.freshness(decision.workload.namespace), RETRY_MILLIS),
);

/** Names the stores that may not be believed. */
export function objectToStale({ synced, stale, hidden = [] }: Freshness, retryAfterMillis?: Millis): Objection {
  if (synced && stale.length === 0)
    return hidden.length === 0 ? undefined : object('NotSeen', { what: hidden.join(', ') });
  const what = stale.length > 0 ? stale.join(', ') : 'the cluster';
  return object('CachesStale', { what, age: synced ? 'too' : 'of unknown age, too' }, retryAfterMillis);
}

/** Only the leader acts, and a new one waits one cooldown: what its predecessor did last may not be visible yet. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { Leadership, Objection } from '../context.ts';
import { disruptionRule, everyRule, inWords, object } from '../objection.ts';

export const leading = everyRule(
  'leader',
  'Two replicas acting at once would double every disruption.',
  (_, { leadership }) => (leadership.leader ? undefined : object('NotLeader', {})),
);

/** Hazard H28. Fallbacks and stamps need no warm-up: their preconditions are checked by the API server. */
export const warmedUp = disruptionRule(
  'leader-warm-up',
  'The cooldown survives a failover: a new leader cannot have seen everything its predecessor did.',
  (_, { leadership, settings, now }) => objectToNewLeader(leadership, settings.cooldownMillis, now),
);

/** Why not so soon after this replica became leader. */
export function objectToNewLeader({ sinceMillis }: Leadership, warmUpMillis: Millis, now: EpochMillis): Objection {
  const remaining = sinceMillis + warmUpMillis - now;
  return remaining > 0 ? object('LeaderWarmup', { remaining: inWords(remaining) }, remaining) : undefined;
}

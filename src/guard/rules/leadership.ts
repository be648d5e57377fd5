/** Only the leader acts, and a new one waits one cooldown: what its predecessor did last may not be visible yet. */
import type { Rule } from '../context.ts';
import { inWords, object } from '../objection.ts';

export const leading: Rule = {
  name: 'leader',
  why: 'Two replicas acting at once would double every disruption.',
  appliesTo: 'every',
  check: (_, { leadership }) => (leadership.leader ? undefined : object('NotLeader', {})),
};

/** Hazard H28. Fallbacks and stamps need no warm-up: their preconditions are checked by the API server. */
export const warmedUp: Rule = {
  name: 'leader-warm-up',
  why: 'The cooldown survives a failover: a new leader cannot have seen everything its predecessor did.',
  appliesTo: 'eviction',
  check: (_, { leadership, settings, now }) => {
    const remaining = leadership.sinceMillis + settings.cooldownMillis - now;
    return remaining > 0 ? object('LeaderWarmup', { remaining: inWords(remaining) }, remaining) : undefined;
  },
};

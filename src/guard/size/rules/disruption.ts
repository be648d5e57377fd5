/**
 * A new template, or a restart in place, disrupts as an eviction does, and so draws on the same windows, cooldown and
 * cluster-wide budget.
 */
import { object } from '../../objection.ts';
import { objectToNewLeader } from '../../rules/leadership.ts';
import { objectToStorm } from '../../rules/spot.ts';
import { objectToSoon, objectToTimes } from '../../rules/timing.ts';
import { disruptiveRule, hasPlace, type SizeSubject, turnsBack } from '../context.ts';

export const disruptionWindowOpen = disruptiveRule(
  'disruption-window-open',
  'A rollout ends pods, and a restart containers, as well as an eviction does; the window of the workload holds for both.',
  (subject, { disruption, now }) => (isTakenBack(subject) ? undefined : objectToTimes(disruption, now)),
);

/** Hazard H8. */
export const disruptionCalm = disruptiveRule(
  'disruption-calm',
  'While the cloud takes nodes away, pods are disrupted enough, and those that a rollout makes may find no place.',
  (subject, { disruption, now }) => (isTakenBack(subject) ? undefined : objectToStorm(disruption?.storm, now)),
);

/** Hazard H28. The warm-up of sizes is set for resizes, and may be shorter. */
export const disruptionWarmedUp = disruptiveRule(
  'disruption-warmed-up',
  'The cooldown survives a failover: a new leader cannot have seen everything its predecessor disrupted.',
  (subject, { leadership, disruption, now }) =>
    isTakenBack(subject) ? undefined : objectToNewLeader(leadership, disruption?.cooldownMillis ?? 0, now),
);

export const disruptionCooledDown = disruptiveRule(
  'disruption-cooled-down',
  'The workload was disrupted a moment ago, by whichever engine; its pods need time to come to rest.',
  (subject, { disruption, now }) =>
    isTakenBack(subject) ? undefined : objectToSoon(disruption?.last, disruption?.cooldownMillis ?? 0, now),
);

/**
 * What is undone for its harm waits here too: a place in the budget is what keeps two restarts apart. A rollout that is
 * turned back goes on in the place it has.
 */
export const withinDisruptionBudget = disruptiveRule(
  'within-disruption-budget',
  'The cluster as a whole takes only so many disruptions at once: evictions of every engine and rollouts count alike.',
  (subject, { disruption, evictions }) =>
    disruption === undefined ||
    disruption.inFlight < disruption.limit ||
    (turnsBack(subject) && hasPlace(subject.decision.workloadUid, evictions))
      ? undefined
      : object('ConcurrencyLimit', { inFlight: disruption.inFlight, limit: disruption.limit }),
);

/**
 * What did harm is undone in place at any time, and so is a rollout that brings it. Once that is over, new pods are a
 * disruption as any.
 */
function isTakenBack(subject: SizeSubject): boolean {
  return turnsBack(subject) || (subject.decision.kind === 'resize' && subject.decision.isRestore === true);
}

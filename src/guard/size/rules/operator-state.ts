/** The engine is on and may write, the owner lets it, this replica leads, and what is known is fresh. */
import { isPaused } from '../../../api/annotations-rightsizing.ts';
import { object } from '../../objection.ts';
import { objectToStale } from '../../rules/freshness.ts';
import { objectToNewLeader } from '../../rules/leadership.ts';
import { namespaceOf, sizeRule } from '../context.ts';

export const engineOn = sizeRule(
  'engine-on',
  'An engine that is switched off does nothing; nothing else needs to be asked.',
  ({ decision }, { settings }) =>
    settings.enabled ? undefined : object('EngineDisabled', { engine: decision.engine }),
);

export const mayWrite = sizeRule(
  'read-only',
  'No write of any kind; before all rules about timing so that it is the one reason shown.',
  (_, { settings }) => {
    if (settings.readOnly) return object('ReadOnly', {});
    return settings.dryRun ? object('DryRunActive', {}) : undefined;
  },
);

export const notOptedOut = sizeRule(
  'not-opted-out',
  'Whoever pauses a workload means now, and a look at many pods takes minutes. Only what was not granted is still taken back.',
  ({ decision, workload }) => {
    const isWithdrawal = decision.kind === 'resize' && decision.isWithdrawal === true;
    if (decision.engine !== 'rightsizing' || isWithdrawal || workload === undefined) return undefined;
    return isPaused(workload.annotations) ? object('OptedOut', {}) : undefined;
  },
);

export const leading = sizeRule(
  'leader',
  'Two replicas acting at once would not see what the other has under way.',
  (_, { leadership }) => (leadership.leader ? undefined : object('NotLeader', {})),
);

export const fresh = sizeRule(
  'fresh',
  'Every later rule reads the view; they can only be believed when the view can.',
  (subject, { view }) => objectToStale(view.freshness(namespaceOf(subject))),
);

/** Rightsizing bug 10 (autoscaler#2180). */
export const warmedUp = sizeRule(
  'leader-warm-up',
  'A restart must not move thousands of workloads at once, nor repeat what a predecessor has under way.',
  ({ decision }, { leadership, settings, now }) => {
    // What a predecessor left pending is in the way of others until it is taken back.
    if (decision.kind === 'resize' && decision.isWithdrawal === true) return undefined;
    return objectToNewLeader(leadership, settings.warmUpMillis, now);
  },
);

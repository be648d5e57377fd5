/** The engine is on, may write, and the workload is managed with a valid configuration. */
import { everyRule, evictRule, object, placementRule } from '../objection.ts';

export const engineOn = placementRule(
  'engine-on',
  'An engine that is switched off does nothing; nothing else needs to be asked.',
  ({ decision }, { settings }) =>
    settings.enabled === false ? object('EngineDisabled', { engine: decision.engine }) : undefined,
);

export const managed = placementRule(
  'managed',
  'Only workloads whose owners asked for it, with values that can be understood, are touched.',
  (_, { policy, settings }) => {
    if (policy.state === 'managed') return undefined;
    const { name: reason, message, advice } = policy.reason;
    // A correction arrives as a change of the object; the retry only covers a configuration that is mended elsewhere.
    return {
      reason,
      message,
      advice,
      retryAfterMillis: policy.state === 'invalid' ? settings.disruptionRetryMillis : undefined,
    };
  },
);

export const mayWrite = everyRule(
  'read-only',
  'Read-only means no write of any kind; it comes before all rules about timing so that it is the one reason shown.',
  (_, { settings }) => (settings.readOnly ? object('ReadOnly', {}) : undefined),
);

/** Fallback is not held: its pod serves nobody, and one that comes back unsteered may run anywhere. */
export const webhookOn = evictRule(
  'webhook-on',
  'Where nothing steers new pods a move is a game of chance with a pod that serves, and the next one follows.',
  (_, { settings }) => (settings.steersNewPods === false ? object('WebhookOff', {}) : undefined),
);

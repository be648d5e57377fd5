/**
 * The workload stands still: its controller has seen the last change, and nothing is being rolled out or taken away
 * (hazards H9, H10; a stale status passed for a stable workload in the system this replaces).
 */
import { rolloutState } from '../../model/rollout.ts';
import { disruptionRule, endRule, object } from '../objection.ts';

export const notDeleting = endRule(
  'not-deleting',
  'A workload on its way out, alone or with its namespace, needs no better placement; in a namespace that ends no pod can be made anew.',
  ({ workload }, { view }) => {
    const isEnding = workload.deleting || view.namespace(workload.namespace)?.terminating === true;
    return isEnding ? object('Deleting', {}) : undefined;
  },
);

export const notScaledToZero = endRule(
  'has-replicas',
  'Pods of a workload scaled to zero end anyway.',
  ({ workload }) => (workload.replicas === 0 ? object('ScaledToZero', {}) : undefined),
);

export const generationObserved = disruptionRule(
  'generation-observed',
  'Status that is older than the spec makes a rollout look finished that has not begun; all rules on status come after.',
  ({ workload }) =>
    workload.observedGeneration < workload.generation
      ? object('GenerationNotObserved', { generation: workload.generation, observed: workload.observedGeneration })
      : undefined,
);

export const notPaused = disruptionRule(
  'not-paused',
  'Someone stopped the rollout to look at it; what runs is to stay as it is.',
  ({ workload }) => (workload.paused ? object('Paused', {}) : undefined),
);

export const noRollout = disruptionRule(
  'no-rollout',
  'A rollout replaces the pods anyway, and has its own limits on how many may be missing. A stuck one blocks for a limited time only.',
  ({ workload, pods }, { view, settings, now }) => {
    const { inProgress, updated, desired, stuckSince } = rolloutState(view, workload, pods);
    if (!inProgress) return undefined;
    const patience = stuckSince === undefined ? undefined : stuckSince + settings.stuckRolloutMillis - now;
    return patience !== undefined && patience <= 0
      ? undefined
      : object('RolloutInProgress', { updated, desired }, patience);
  },
);

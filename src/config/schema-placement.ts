/** The keys of the placement engine. */
import { placementGrammar } from '../api/annotations.ts';
import { parseMinOnDemand, parseSpotPercentage } from '../api/annotations-values.ts';
import { annotationValue, choice, duration, flag, integer, kinds, text } from './config-key.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Stowage's own: Spotalis has no keys for these. */
export const placementKeys = {
  rounding: choice('ceil', ['ceil', 'floor'], {
    env: 'PLACEMENT_ROUNDING',
    description: 'Which way the share of spot is rounded. Spotalis 0.1 rounds down.',
  }),
  basis: choice('total', ['total', 'aboveBase'], {
    env: 'PLACEMENT_BASIS',
    description: 'What the percentage applies to: all replicas, or those above the floor as in EC2 Auto Scaling.',
  }),
  defaults: {
    spotPercentage: annotationValue('0', parseSpotPercentage, {
      env: 'PLACEMENT_DEFAULTS_SPOT_PERCENTAGE',
      accepted: placementGrammar.spotPercentage,
      description: 'Share of spot for enabled workloads that say nothing, nor their namespace.',
    }),
    minOnDemand: annotationValue('0', parseMinOnDemand, {
      env: 'PLACEMENT_DEFAULTS_MIN_ON_DEMAND',
      accepted: placementGrammar.minOnDemand,
      description: 'Least number of on-demand replicas for enabled workloads that say nothing, nor their namespace.',
    }),
  },
  mutations: {
    tolerations: flag(true, {
      env: 'PLACEMENT_MUTATIONS_TOLERATIONS',
      description: 'Give pods the toleration that spot nodes of the chosen profiles need.',
    }),
    affinity: flag(true, {
      env: 'PLACEMENT_MUTATIONS_AFFINITY',
      description:
        'Steer by required node affinity where no single label says the side; switched off, such pods stay unsteered.',
    }),
  },
  allowSingleReplica: flag(false, {
    env: 'PLACEMENT_ALLOW_SINGLE_REPLICA',
    description: 'Move the pod of a workload that has only one; it is down meanwhile.',
  }),
  maxConcurrentEvictions: integer(5, {
    env: 'PLACEMENT_MAX_CONCURRENT_EVICTIONS',
    min: 1,
    max: 1000,
    description: 'Disruptions under way in the whole cluster: evictions, and rollouts and restarts for sizes.',
  }),
  surge: flag(false, {
    env: 'PLACEMENT_SURGE',
    description:
      'Reserved: only false is accepted. Bringing a replacement up first would take an edit of replicas or template, which Stowage never makes.',
  }),
  maxPerPool: integer(100, {
    env: 'PLACEMENT_MAX_PER_POOL',
    min: 1,
    max: 100,
    description:
      'Largest share of a workload in one spot pool (zone and instance family) where there is a choice, in percent; 100 is no limit. New pods prefer other pools; none is moved for it.',
  }),
  avoidPoolsLosing: integer(30, {
    env: 'PLACEMENT_AVOID_POOLS_LOSING',
    min: 1,
    max: 100,
    description:
      'New pods prefer other spot pools than those that lost this part of their nodes within an hour, in percent; 100 avoids none.',
  }),
  coordination: choice('leader', ['leader', 'local'], {
    env: 'PLACEMENT_COORDINATION',
    restart: true,
    description:
      'Who decides about new pods: the leader for all replicas, or each replica by itself and the leader repairs.',
  }),
  fallback: {
    after: duration('5m', {
      env: 'PLACEMENT_FALLBACK_AFTER',
      min: 30 * SECOND,
      max: 30 * MINUTE,
      description: 'How long a pod may wait for spot before it is recreated on on-demand.',
    }),
    returnPerWindow: integer(1, {
      env: 'PLACEMENT_FALLBACK_RETURN_PER_WINDOW',
      min: 1,
      max: 1000,
      description:
        'Pods of a workload that return to spot in one disruption window, or in an hour where pods may always be moved.',
    }),
    maxConcurrent: integer(50, {
      env: 'PLACEMENT_FALLBACK_MAX_CONCURRENT',
      min: 1,
      max: 10_000,
      description:
        'Pods in the whole cluster that were recreated on on-demand and have not found a node there yet. A namespace that has less than its part of them may have more, so that none keeps the others waiting.',
    }),
    maxPercent: integer(100, {
      env: 'PLACEMENT_FALLBACK_MAX_PERCENT',
      min: 0,
      max: 100,
      description:
        'Largest part of the spot replicas of a workload that on-demand covers at one time, in percent, rounded up. With 0 pods wait for spot.',
    }),
  },
  prices: text('', {
    env: 'PLACEMENT_PRICES',
    accepted: 'the path of a prices file, or nothing',
    description:
      'File that tells what instance types cost (docs/cost.md); read again when it changes. Empty: costs are not told.',
  }),
  owners: kinds([{ apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' }], {
    restart: true,
    accepted:
      'a list of {apiVersion, kind}; kinds that own ReplicaSets and have spec.replicas and a status like a Deployment’s',
    description:
      'Owners of ReplicaSets that are placed as Deployments are, where the cluster serves them and they may be read (deploy/rbac-argo.yaml).',
  }),
  claimTimeout: duration('2m', {
    env: 'PLACEMENT_CLAIM_TIMEOUT',
    min: 5 * SECOND,
    description: 'How long the place of an admitted pod that never appears stays reserved.',
  }),
  stuckRolloutAfter: duration('15m', {
    env: 'PLACEMENT_STUCK_ROLLOUT_AFTER',
    min: MINUTE,
    description:
      'How long a rollout without progress, or a pod that does not end when its grace period is over, keeps others waiting.',
  }),
  moveBackoff: {
    initial: duration('3m', {
      env: 'PLACEMENT_MOVE_BACKOFF_INITIAL',
      min: SECOND,
      description: 'Pause after a move that found no place; it doubles.',
    }),
    max: duration('1h', {
      env: 'PLACEMENT_MOVE_BACKOFF_MAX',
      min: SECOND,
      description: 'Longest pause after moves that found no place.',
    }),
  },
} as const;

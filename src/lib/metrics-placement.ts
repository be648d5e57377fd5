/**
 * The metrics of the placement engine: names and labels as Spotalis has them, and those it lacks. No label is ever a
 * pod's name.
 */

import { each, type MetricDefinition, requestBuckets, workBuckets } from './metric-definition.ts';
import { blockReasons } from './reason-blocks.ts';
import { unsteeredReasons } from './reason-unsteered.ts';

const workload = ['namespace', 'workload', 'workload_type'] as const;
const controllerName = 'spotalis-controller';
const unsteered = [
  ...Object.keys(unsteeredReasons),
  ...Object.entries(blockReasons).flatMap(([name, { kinds }]) =>
    kinds.some((kind) => kind === 'unsteered') ? [name] : [],
  ),
];

export const placementMetrics = {
  spotalis_workload_replicas: {
    type: 'gauge',
    help: 'Live pods of a managed workload by side (spot, on-demand).',
    labels: [...workload, 'replica_type'],
  },
  spotalis_workload_replicas_desired: {
    type: 'gauge',
    help: 'Replicas of a managed workload that belong on each side (spot, on-demand).',
    labels: [...workload, 'replica_type'],
  },
  spotalis_drift_replicas: {
    type: 'gauge',
    help: 'Pods of a managed workload that run on the wrong side.',
    labels: workload,
  },
  spotalis_fallback_active: {
    type: 'gauge',
    help: 'Pods of a managed workload that run on on-demand because spot has no room.',
    labels: workload,
  },
  spotalis_spot_closed: {
    type: 'gauge',
    help: '1 while spot is not used for new pods of a managed workload because it had no room, else 0.',
    labels: workload,
  },
  spotalis_storm_active: {
    type: 'gauge',
    help: '1 while so many spot nodes are lost that no pod is moved, else 0.',
    labels: [],
  },
  spotalis_window_open: {
    type: 'gauge',
    help: '1 while pods of a managed workload may be moved by its disruption window, else 0.',
    labels: workload,
  },
  spotalis_invalid_configuration: {
    type: 'gauge',
    help: '1 while a setting of an enabled workload is invalid and the workload is left alone, else 0.',
    labels: workload,
  },
  spotalis_reconciliations_total: {
    type: 'counter',
    help: 'Reconciliations of a workload that wanted to change something, by action and result (success, error).',
    labels: [...workload, 'action', 'result'],
  },
  spotalis_reconciliation_errors_total: {
    type: 'counter',
    help: 'Reconciliations of a workload that failed, by kind of error.',
    labels: [...workload, 'error_type'],
  },
  spotalis_reconcile_duration_seconds: {
    type: 'histogram',
    help: 'Time one reconciliation of a workload takes, in seconds.',
    labels: ['workload_type'],
    buckets: workBuckets,
    initial: each('workload_type', ['deployment', 'statefulset']),
  },
  spotalis_rebalancing_blocked_by_pdb_total: {
    type: 'counter',
    help: 'Evictions of a workload that a PodDisruptionBudget did not allow.',
    labels: [...workload, 'pdb_name'],
  },
  spotalis_evictions_total: {
    type: 'counter',
    help: 'Evictions asked for, by what the API server answered: evicted, gone, blocked by a budget, throttled, conflict (the pod changed), error; dry-run: not asked for, in read-only mode.',
    labels: ['result'],
    initial: each('result', ['evicted', 'gone', 'blocked', 'throttled', 'conflict', 'error', 'dry-run']),
  },
  spotalis_disruptions_blocked_total: {
    type: 'counter',
    help: 'Disruptions that were wanted and not done, by reason.',
    labels: ['reason'],
    initial: each('reason', Object.keys(blockReasons)),
  },
  spotalis_restamps_total: {
    type: 'counter',
    help: 'Pods whose slot was corrected without moving them, by result (success, error).',
    labels: ['result'],
    initial: each('result', ['success', 'error']),
  },
  spotalis_fallbacks_total: {
    type: 'counter',
    help: 'Pods recreated on on-demand because spot had no room.',
    labels: [],
  },
  spotalis_returns_total: {
    type: 'counter',
    help: 'Pods that returned to spot after a fallback.',
    labels: [],
  },
  spotalis_missed_admissions_total: {
    type: 'counter',
    help: 'Pods of managed workloads that were created without passing the webhook.',
    labels: [],
  },
  stowage_workload_cost_dollars_per_hour: {
    type: 'gauge',
    help: 'What the pods of a managed workload cost by the prices file, in US dollars an hour: kind actual, all-on-demand (the same pods without spot), floor (what the floor adds). On the leader only; pods without a price are left out.',
    labels: [...workload, 'kind'],
  },
  stowage_workload_unpriced_pods: {
    type: 'gauge',
    help: 'Pods of a managed workload whose price the prices file does not tell.',
    labels: workload,
  },
  spotalis_webhook_requests_total: {
    type: 'counter',
    help: 'Admission requests by operation, kind and result (allowed, denied).',
    labels: ['operation', 'resource_kind', 'result'],
    initial: [{ operation: 'CREATE', resource_kind: 'Pod', result: 'allowed' }],
  },
  spotalis_webhook_request_duration_seconds: {
    type: 'histogram',
    help: 'Time an admission request takes in this process, in seconds; of one that is sent to the leader, until its answer is there.',
    labels: [],
    buckets: requestBuckets,
  },
  spotalis_webhook_mutations_total: {
    type: 'counter',
    help: 'Changes made to admitted pods, by kind of change.',
    labels: ['resource_kind', 'mutation_type'],
    initial: each('mutation_type', ['nodeSelector', 'affinity', 'tolerations', 'annotations']).map((row) => ({
      resource_kind: 'Pod',
      ...row,
    })),
  },
  spotalis_admissions_unsteered_total: {
    type: 'counter',
    help: 'Pods admitted without being steered, by reason.',
    labels: ['reason'],
    initial: each('reason', unsteered),
  },
  spotalis_controller_last_seen_timestamp: {
    type: 'gauge',
    help: 'When the controller last reported itself alive, in seconds since 1970 (UTC).',
    labels: ['controller_name'],
    initial: each('controller_name', [controllerName]),
  },
  spotalis_leader_election_status: {
    type: 'gauge',
    help: '1 on the replica that is the leader, 0 on the others.',
    labels: ['controller_name'],
    initial: each('controller_name', [controllerName]),
  },
} as const satisfies Record<string, MetricDefinition>;

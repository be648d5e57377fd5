/**
 * The metrics of the rightsizing engine: names and labels as OptiPod has them, and those it lacks. No label is ever a
 * pod's name.
 */
import { each, type MetricDefinition } from './metric-definition.ts';

const policy = ['namespace', 'policy'] as const;
const container = ['namespace', 'workload', 'kind', 'container'] as const;
/** OptiPod's: the defaults of the Prometheus client. */
const shippedBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** A resize that is not granted is withdrawn after five minutes (rightsizing.deferredTimeout), or later. */
const resizeBuckets = [0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1800] as const;
const providers = ['prometheus', 'metrics-server', 'custom'] as const;

export const rightsizingMetrics = {
  optipod_workloads_monitored: {
    type: 'gauge',
    help: 'Workloads a policy has the say over; the namespace is that of the policy.',
    labels: policy,
  },
  optipod_workloads_updated: {
    type: 'gauge',
    help: 'Workloads of a policy whose pods have the recommended sizes.',
    labels: policy,
  },
  optipod_workloads_skipped: {
    type: 'gauge',
    help: 'Workloads of a policy that are not changed, by reason.',
    labels: [...policy, 'reason'],
  },
  optipod_workloads_unread: {
    type: 'gauge',
    help: 'Workloads of a policy whose usage cannot be read at present: what is known of them grows old.',
    labels: policy,
  },
  optipod_policy_invalid: {
    type: 'gauge',
    help: '1 while a policy is not valid and nothing is sized by it, else 0.',
    labels: policy,
  },
  optipod_reconciliation_duration_seconds: {
    type: 'histogram',
    help: 'Time one pass over the workloads of a policy takes, in seconds.',
    labels: ['policy'],
    buckets: shippedBuckets,
  },
  optipod_metrics_collection_duration_seconds: {
    type: 'histogram',
    help: 'Time a source of usage takes to answer for one workload, in seconds.',
    labels: ['provider'],
    buckets: shippedBuckets,
    initial: each('provider', providers),
  },
  optipod_reconciliation_errors_total: {
    type: 'counter',
    help: 'What went wrong in passes of a policy: fetch_error, validation_error (once, as there are no passes until it changes), discovery_error, processing_error.',
    labels: ['policy', 'error_type'],
  },
  optipod_recommendations_total: {
    type: 'counter',
    help: 'Recommendations that differ from the one before, by policy.',
    labels: ['policy'],
  },
  optipod_applications_total: {
    type: 'counter',
    help: 'Changes made for a policy, by method (InPlace: pods; Recreate: templates).',
    labels: ['policy', 'method'],
  },
  optipod_ssa_patch_total: {
    type: 'counter',
    help: 'Patches of pod templates, by status (success, failure) and type (ServerSideApply, StrategicMergePatch).',
    labels: ['policy', 'namespace', 'workload', 'kind', 'status', 'patch_type'],
  },
  optipod_recommended_cpu_cores: {
    type: 'gauge',
    help: 'CPU a container should request, in cores. Of the workloads in the status of their policy.',
    labels: container,
  },
  optipod_recommended_memory_bytes: {
    type: 'gauge',
    help: 'Memory a container should request, in bytes. Of the workloads in the status of their policy.',
    labels: container,
  },
  optipod_savings_cpu_cores: {
    type: 'gauge',
    help: 'Requested CPU that following all recommendations of a policy would free, in cores; negative where more is needed.',
    labels: policy,
  },
  optipod_savings_memory_bytes: {
    type: 'gauge',
    help: 'Requested memory that following all recommendations of a policy would free, in bytes; negative where more is needed.',
    labels: policy,
  },
  optipod_resize_duration_seconds: {
    type: 'histogram',
    help: 'Time from asking for an in-place resize until it is in force on the node, in seconds, by how it ended: done, withdrawn because the node did not grant it, superseded by another writer, failed.',
    labels: ['result'],
    buckets: resizeBuckets,
    initial: each('result', ['done', 'withdrawn', 'superseded', 'failed']),
  },
} as const satisfies Record<string, MetricDefinition>;

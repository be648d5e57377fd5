/**
 * The metrics of the machinery every engine stands on: API client, work queues, informers, event loop, certificates.
 */
import { each, type MetricDefinition, requestBuckets, workBuckets } from './metric-definition.ts';

export const runtimeMetrics = {
  stowage_build_info: {
    type: 'gauge',
    help: 'Always 1; the label tells the version.',
    labels: ['version'],
  },
  stowage_watched_namespaces: {
    type: 'gauge',
    help: 'Namespaces whose workloads it looks after; 0: those of the whole cluster.',
    labels: [],
  },
  stowage_api_requests_total: {
    type: 'counter',
    help: 'Requests to the API server by verb, resource and HTTP status code (0 when there was no answer). Resizes are of the resource pods/resize, evictions of pods/eviction; what the Metrics API answers is of the resource pods.metrics.k8s.io.',
    labels: ['verb', 'resource', 'code'],
  },
  stowage_api_request_duration_seconds: {
    type: 'histogram',
    help: 'Time a request to the API server takes, watches left out, in seconds.',
    labels: ['verb'],
    buckets: requestBuckets,
  },
  stowage_api_rights_missing_total: {
    type: 'counter',
    help: 'Requests that authorization refused, by the right that is missing. What admission refuses (quotas, webhooks) is none of them.',
    labels: ['verb', 'resource'],
  },
  stowage_api_throttle_seconds: {
    type: 'histogram',
    help: 'Time a request waited for the own rate limit before it was sent, in seconds.',
    labels: [],
    buckets: workBuckets,
  },
  stowage_workqueue_depth: {
    type: 'gauge',
    help: 'Keys that wait in a work queue, for a worker or for the end of the work on them.',
    labels: ['queue'],
  },
  stowage_workqueue_adds_total: {
    type: 'counter',
    help: 'Keys put into a work queue; those that wait there already are not.',
    labels: ['queue'],
  },
  stowage_workqueue_retries_total: {
    type: 'counter',
    help: 'Keys put into a work queue again after a failure.',
    labels: ['queue'],
  },
  stowage_workqueue_failing_seconds: {
    type: 'gauge',
    help: 'How long the key that has failed longest has failed, each time it was tried; 0: the last work on every key succeeded.',
    labels: ['queue'],
  },
  stowage_workqueue_wait_seconds: {
    type: 'histogram',
    help: 'Time from when a key is put into a work queue until a worker takes it, in seconds.',
    labels: ['queue'],
    buckets: workBuckets,
  },
  stowage_workqueue_work_seconds: {
    type: 'histogram',
    help: 'Time one key of a work queue is worked on, in seconds.',
    labels: ['queue'],
    buckets: workBuckets,
  },
  stowage_informer_objects: {
    type: 'gauge',
    help: 'Objects an informer holds.',
    labels: ['resource'],
  },
  stowage_informer_age_seconds: {
    type: 'gauge',
    help: 'Time since an informer was last known to be up to date, in seconds.',
    labels: ['resource'],
  },
  stowage_informer_lists_total: {
    type: 'counter',
    help: 'Complete lists an informer read; more than one means that its watch could not go on.',
    labels: ['resource'],
  },
  stowage_informer_events_total: {
    type: 'counter',
    help: 'Watch events an informer took in.',
    labels: ['resource'],
  },
  stowage_clocks_off: {
    type: 'gauge',
    help: 'Clocks more than half a minute from this one, by who dates changes of pods with them (node, scheduler, api-server): seen twice, minutes apart, off by about the same. The log names them.',
    labels: ['teller'],
    initial: each('teller', ['node', 'scheduler', 'api-server']),
  },
  stowage_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'How late timers fire: median and 99th percentile of the present minute, and the longest of the last one to two (quantile 1), in seconds.',
    labels: ['quantile'],
    initial: each('quantile', ['0.5', '0.99', '1']),
  },
  stowage_config_reloads_total: {
    type: 'counter',
    help: 'Changes of the configuration file, by result (applied, restart-needed, invalid).',
    labels: ['result'],
    initial: each('result', ['applied', 'restart-needed', 'invalid']),
  },
  stowage_config_invalid: {
    type: 'gauge',
    help: '1 while the configuration file is not valid and the one before stays in force, else 0.',
    labels: [],
  },
  stowage_events_dropped_total: {
    type: 'counter',
    help: 'Events about workloads and policies that were not written: too many about one object, or the API server did not take them.',
    labels: [],
  },
  stowage_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'When the served webhook certificate ends, in seconds since 1970 (UTC).',
    labels: [],
  },
  stowage_certificate_start_timestamp_seconds: {
    type: 'gauge',
    help: 'From when on the served webhook certificate is valid, in seconds since 1970 (UTC).',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

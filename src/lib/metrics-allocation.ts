/**
 * The metrics of the allocation engine on the operator's side: the names MBCAS's documents give its controller, and a
 * few of our own.
 */
import { each, type MetricDefinition, workBuckets } from './metric-definition.ts';

const pod = ['namespace', 'pod'] as const;

export const allocationMetrics = {
  mbcas_controller_reconcile_duration_seconds: {
    type: 'histogram',
    help: 'Time to work through the allocations of one node.',
    labels: [],
    buckets: workBuckets,
  },
  mbcas_controller_resize_total: {
    type: 'counter',
    help: 'Resizes asked for (asked), and what became of them: done, blocked by a guard before they were asked for, refused by the API server, withdrawn, superseded by another writer, lost.',
    labels: ['status'],
    initial: each('status', ['asked', 'done', 'blocked', 'refused', 'withdrawn', 'superseded', 'lost']),
  },
  mbcas_controller_resize_lag_seconds: {
    type: 'histogram',
    help: 'From the patch until the node says that the new size is in force.',
    labels: [],
    buckets: workBuckets,
  },
  mbcas_controller_clamp_total: {
    type: 'counter',
    help: 'Wishes of agents that a rule of the operator narrowed, by the rule; counted when a resize is decided.',
    labels: ['reason'],
  },
  mbcas_controller_restore_total: {
    type: 'counter',
    help: 'Pods that got back what they had, by why: opted-out, agent-gone, no-allocation.',
    labels: ['cause'],
    initial: each('cause', ['opted-out', 'agent-gone', 'no-allocation']),
  },
  mbcas_pod_cpu_allocation_millicores: { type: 'gauge', help: 'CPU request in force, in millicores.', labels: pod },
  mbcas_pod_cpu_usage_millicores: {
    type: 'gauge',
    help: 'CPU use as the agent told last, in millicores.',
    labels: pod,
  },
  mbcas_pod_allocations: { type: 'gauge', help: 'PodAllocations by phase.', labels: ['phase'] },
  mbcas_agents: {
    type: 'gauge',
    help: 'Node agents by state: alive, silent (nothing changes), gone (originals are put back).',
    labels: ['state'],
  },
} as const satisfies Record<string, MetricDefinition>;

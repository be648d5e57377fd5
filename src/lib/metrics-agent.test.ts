import { expect, test } from 'vitest';
import type { MetricDefinition } from './metric-definition.ts';
import { metricTable } from './metrics.ts';
import { agentMetrics } from './metrics-agent.ts';

const pod = ['namespace', 'pod'];
const table: Readonly<Record<string, MetricDefinition>> = { ...agentMetrics, ...metricTable };

/**
 * Every name of every generation of MBCAS, those of its documents included, with the labels it had. Two histograms had
 * a series of each pod: here they are of the node (docs/migrating-from-mbcas.md).
 */
test.each<[string, MetricDefinition['type'], readonly string[]]>([
  ...[
    'demand_raw',
    'demand_smoothed',
    'allocation_milli',
    'need_milli',
    'utility',
    'game_utility',
    'slo_score',
    'shapley_credit',
    'qlearning_reward',
    'throttling_ratio',
    'pod_allocation_milli',
    'pod_usage_milli',
    'pod_throttling_ratio',
    'pod_cpu_allocation_millicores',
    'pod_cpu_usage_millicores',
  ].map((name): [string, 'gauge', string[]] => [name, 'gauge', pod]),
  ...[
    'nash_product_log',
    'total_need_milli',
    'total_allocation_milli',
    'capacity_milli',
    'coalition_count',
    'core_stable',
    'lyapunov_potential',
    'lyapunov_step_size',
    'lyapunov_converging',
    'shadow_price_cpu',
    'nash_solver_iterations',
    'managed_pods',
    'qtable_size',
  ].map((name): [string, 'gauge', string[]] => [name, 'gauge', []]),
  ['allocation_mode', 'gauge', ['node']],
  ['shadow_price', 'gauge', ['node']],
  ['coalition_size', 'gauge', ['coalition_id']],
  ['allocation_changes_total', 'counter', [...pod, 'direction']],
  ['nash_mode_total', 'counter', ['mode']],
  ['qtable_evictions_total', 'counter', []],
  ['controller_resize_total', 'counter', ['status']],
  ['clamp_total', 'counter', ['reason']],
  ['allocation_compute_duration_seconds', 'histogram', []],
  ['pod_discovery_duration_seconds', 'histogram', []],
  ['cgroup_read_duration_seconds', 'histogram', []],
  ['allocation_latency_seconds', 'histogram', []],
  ['agent_step_duration_seconds', 'histogram', ['loop']],
  ['controller_reconcile_duration_seconds', 'histogram', []],
  ['controller_resize_lag_seconds', 'histogram', []],
])('mbcas_%s is a %s with the labels %j', (name, type, labels) => {
  const found = table[`mbcas_${name}`];
  expect(found?.type).toBe(type);
  expect(found?.labels.toSorted()).toEqual([...labels].sort());
});

test('the latency has the buckets it had', () => {
  expect(agentMetrics.mbcas_allocation_latency_seconds.buckets).toEqual([0.1, 0.5, 1, 2, 5, 10, 30]);
});

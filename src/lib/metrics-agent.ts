/**
 * The metrics of the node agent: names and labels of all generations of MBCAS, so that dashboards keep working, and a
 * few of our own. The agent counts and prints them itself (src/agent/metrics-text.ts): the metrics library would cost a
 * fifth of its memory.
 */
import { each, type MetricDefinition } from './metric-definition.ts';

const pod = ['namespace', 'pod'] as const;
const modes = each('mode', ['uncongested', 'congested', 'overloaded']);
/** Work of a tick takes well under a millisecond to some tens of them. */
const stepBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1] as const;

export const agentMetrics = {
  mbcas_managed_pods: { type: 'gauge', help: 'Pods of the node that take part in the bargaining.', labels: [] },
  mbcas_pod_usage_milli: { type: 'gauge', help: 'Measured CPU use of a pod, in millicores.', labels: pod },
  mbcas_pod_allocation_milli: { type: 'gauge', help: 'CPU share of a pod, in millicores.', labels: pod },
  mbcas_allocation_milli: { type: 'gauge', help: 'As `mbcas_pod_allocation_milli`.', labels: pod },
  mbcas_need_milli: { type: 'gauge', help: 'Claim of a pod, its lower bound, in millicores.', labels: pod },
  mbcas_want_milli: { type: 'gauge', help: 'What a pod could use, its upper bound, in millicores.', labels: pod },
  mbcas_demand_raw: {
    type: 'gauge',
    help: 'Shortage of CPU of a pod: throttled periods by all periods, or pressure where it is not throttled, 0..1.',
    labels: pod,
  },
  mbcas_demand_smoothed: { type: 'gauge', help: 'Want of a pod by its share; above 1 it wants more.', labels: pod },
  mbcas_pod_throttling_ratio: {
    type: 'gauge',
    help: 'Throttled periods of a pod by all its periods, 0..1.',
    labels: pod,
  },
  mbcas_throttling_ratio: { type: 'gauge', help: 'As `mbcas_pod_throttling_ratio`.', labels: pod },
  mbcas_utility: { type: 'gauge', help: 'ln(share - claim) of a pod with a surplus.', labels: pod },
  mbcas_game_utility: { type: 'gauge', help: 'Weight times `mbcas_utility`.', labels: pod },
  mbcas_slo_score: {
    type: 'gauge',
    help: 'min(1, target / value) of the application metric of a pod; 1 where it has none.',
    labels: pod,
  },
  mbcas_shapley_credit: { type: 'gauge', help: 'What a pod is owed by its coalition, in millicores.', labels: pod },
  mbcas_allocation_changes_total: {
    type: 'counter',
    help: 'Desired values written for a pod, by direction (up, down, same).',
    labels: [...pod, 'direction'],
  },
  mbcas_clamp_total: {
    type: 'counter',
    help: 'Bounds, weights and results moved by a rule, by the reason; counted each tick it holds.',
    labels: ['reason'],
  },
  mbcas_allocation_mode: {
    type: 'gauge',
    help: '0 while all wants fit on the node, 1 while all claims do, 2 while not even those.',
    labels: ['node'],
  },
  mbcas_nash_mode_total: { type: 'counter', help: 'Ticks by mode.', labels: ['mode'], initial: modes },
  mbcas_capacity_milli: { type: 'gauge', help: 'CPU that managed pods share, in millicores.', labels: [] },
  mbcas_total_need_milli: { type: 'gauge', help: 'Sum of all claims, in millicores.', labels: [] },
  mbcas_total_allocation_milli: { type: 'gauge', help: 'Sum of all shares, in millicores.', labels: [] },
  mbcas_system_use_milli: {
    type: 'gauge',
    help: 'CPU used on the node outside pods, in millicores.',
    labels: [],
  },
  mbcas_shadow_price_cpu: { type: 'gauge', help: 'Utility of one more core; 0 while uncongested.', labels: [] },
  mbcas_shadow_price: { type: 'gauge', help: 'As `mbcas_shadow_price_cpu`, by node.', labels: ['node'] },
  mbcas_nash_product_log: { type: 'gauge', help: 'Sum of weight times ln(share - claim) over pods.', labels: [] },
  mbcas_lyapunov_potential: { type: 'gauge', help: 'Minus `mbcas_nash_product_log`.', labels: [] },
  mbcas_lyapunov_step_size: { type: 'gauge', help: 'Always 1: the optimum is computed, not approached.', labels: [] },
  mbcas_lyapunov_converging: {
    type: 'gauge',
    help: '1 while nothing had to be written in the last tick, else 0.',
    labels: [],
  },
  mbcas_jain_index: { type: 'gauge', help: "Jain's index of min(1, share / want): 1 is equal.", labels: [] },
  mbcas_satisfaction: { type: 'gauge', help: 'Mean of min(1, share / want).', labels: [] },
  mbcas_nash_solver_iterations: { type: 'gauge', help: 'Always 1: the solver is exact.', labels: [] },
  mbcas_coalition_count: { type: 'gauge', help: 'Coalitions on the node.', labels: [] },
  mbcas_coalition_size: { type: 'gauge', help: 'Pods of a coalition, by namespace/name.', labels: ['coalition_id'] },
  mbcas_core_stable: {
    type: 'gauge',
    help: '1 while no pod of a coalition has less than its claim, else 0.',
    labels: [],
  },
  mbcas_qtable_size: { type: 'gauge', help: 'Always 0: nothing is learned by reinforcement.', labels: [] },
  mbcas_qtable_evictions_total: { type: 'counter', help: 'Always 0.', labels: [], initial: [{}] },
  mbcas_qlearning_reward: { type: 'gauge', help: 'Never has a series.', labels: pod },
  mbcas_allocation_latency_seconds: {
    type: 'histogram',
    help: 'Time from wanting a change to its being written, in seconds.',
    labels: [],
    buckets: [0.1, 0.5, 1, 2, 5, 10, 30],
  },
  mbcas_allocation_compute_duration_seconds: {
    type: 'histogram',
    help: 'Time the plan of the node takes, in seconds.',
    labels: [],
    buckets: stepBuckets,
  },
  mbcas_pod_discovery_duration_seconds: {
    type: 'histogram',
    help: 'Time it takes to match pods with control groups, in seconds.',
    labels: [],
    buckets: stepBuckets,
  },
  mbcas_cgroup_read_duration_seconds: {
    type: 'histogram',
    help: 'Time one sample of all control groups takes, in seconds.',
    labels: [],
    buckets: stepBuckets,
  },
  mbcas_agent_step_duration_seconds: {
    type: 'histogram',
    help: 'Time a step of a loop (sample, plan) takes, in seconds.',
    labels: ['loop'],
    buckets: stepBuckets,
  },
  mbcas_agent_samples_total: { type: 'counter', help: 'Samples taken.', labels: [], initial: [{}] },
  mbcas_agent_unread_groups: { type: 'gauge', help: 'Pods and containers that cannot be measured now.', labels: [] },
  mbcas_agent_unenforced_limits: {
    type: 'gauge',
    help: 'Pods whose CPU limit is not in force, though the kubelet says so: something has reset the quota, or a change never got to the kernel.',
    labels: [],
  },
  mbcas_agent_writes_total: {
    type: 'counter',
    help: 'PodAllocations written, by result (ok, denied, missing, rejected, gone, failed).',
    labels: ['result'],
    initial: each('result', ['ok', 'denied', 'missing', 'rejected', 'gone', 'failed']),
  },
  mbcas_agent_held_total: {
    type: 'counter',
    help: 'Changes computed and not written, by why; counted each tick.',
    labels: ['reason'],
  },
  mbcas_demand_query_total: {
    type: 'counter',
    help: 'Queries of application metrics, by result (ok, failed, skipped).',
    labels: ['result'],
    initial: each('result', ['ok', 'failed', 'skipped']),
  },
  process_resident_memory_bytes: { type: 'gauge', help: 'Memory of the agent, in bytes.', labels: [] },
  process_cpu_seconds_total: { type: 'counter', help: 'CPU time of the agent, in seconds.', labels: [] },
  mbcas_agent_info: { type: 'gauge', help: 'Always 1; the label tells the version.', labels: ['version'] },
} as const satisfies Record<string, MetricDefinition>;

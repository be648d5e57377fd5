/** A tick in figures: the gauges of the node and of its pods. */
import { satisfactionOf } from '../decide/allocation/fairness.ts';
import type { MetricFact } from '../decide/allocation/integrations/custom-metrics.ts';
import type { PodPlan } from '../decide/allocation/node-input.ts';
import type { Millicores } from '../lib/units.ts';
import { toldRatio } from './measure.ts';
import type { AgentMetrics } from './metrics-text.ts';
import type { Tick } from './planner.ts';

const modeNumbers = { uncongested: 0, congested: 1, overloaded: 2 } as const;

/** What a tick does not hold itself. */
export interface ReportContext {
  readonly nodeName: string;
  readonly systemUse: Millicores | undefined;
  readonly metricOf: (podUid: string) => MetricFact | undefined;
}

/** Counts what happened in the tick. */
export function countTick(metrics: AgentMetrics, { plan }: Tick): void {
  metrics.inc('mbcas_nash_mode_total', { mode: plan.mode });
  const clamped = [...plan.pods.flatMap(({ clamps }) => clamps), ...plan.clamps].map(({ reason }) => reason);
  for (const [reason, times] of timesOf(clamped)) metrics.inc('mbcas_clamp_total', { reason }, times);
  const held = plan.pods.flatMap((pod) => (pod.held === undefined || pod.held === 'Settled' ? [] : [pod.held]));
  for (const [reason, times] of timesOf(held)) metrics.inc('mbcas_agent_held_total', { reason }, times);
}

/** Reasons are few, pods many, and each count has its labels put into a text. */
function timesOf<Reason extends string>(reasons: readonly Reason[]): ReadonlyMap<Reason, number> {
  const times = new Map<Reason, number>();
  for (const reason of reasons) times.set(reason, (times.get(reason) ?? 0) + 1);
  return times;
}

/** Sets the gauges; done for a scrape only, from the newest tick. */
export function reportTick(metrics: AgentMetrics, tick: Tick, context: ReportContext): void {
  const { plan } = tick;
  const { nodeName: node, systemUse } = context;
  // Gauges of the shadow price are by core, the solver's price is by millicore.
  const price = plan.shadowPrice * 1000;
  metrics.set('mbcas_managed_pods', {}, plan.pods.length);
  metrics.set('mbcas_allocation_mode', { node }, modeNumbers[plan.mode]);
  metrics.set('mbcas_capacity_milli', {}, plan.capacity);
  metrics.set(
    'mbcas_total_need_milli',
    {},
    sum(plan.pods, ({ claim }) => claim),
  );
  metrics.set(
    'mbcas_total_allocation_milli',
    {},
    sum(plan.pods, ({ share }) => share),
  );
  // The last one that was known would be told for ever.
  if (systemUse === undefined) metrics.clear('mbcas_system_use_milli');
  else metrics.set('mbcas_system_use_milli', {}, systemUse);
  metrics.set('mbcas_shadow_price_cpu', {}, price);
  metrics.set('mbcas_shadow_price', { node }, price);
  metrics.set('mbcas_nash_product_log', {}, plan.fairness.logNash);
  metrics.set('mbcas_lyapunov_potential', {}, -plan.fairness.logNash);
  metrics.set('mbcas_lyapunov_step_size', {}, 1);
  metrics.set('mbcas_lyapunov_converging', {}, plan.writes.length === 0 ? 1 : 0);
  metrics.set('mbcas_jain_index', {}, plan.fairness.jain);
  metrics.set('mbcas_satisfaction', {}, plan.fairness.satisfaction);
  metrics.set('mbcas_nash_solver_iterations', {}, 1);
  metrics.set('mbcas_qtable_size', {}, 0);
  reportCoalitions(metrics, plan.pods);
  for (const pod of plan.pods) reportPod(metrics, pod, tick, context);
}

/**
 * Series of coalitions that are gone must not stay. Those of one name in two namespaces have nothing to do with each
 * other.
 */
function reportCoalitions(metrics: AgentMetrics, pods: readonly PodPlan[]): void {
  const sizes = new Map<string, number>();
  for (const { namespace, coalition } of pods) {
    if (coalition === undefined) continue;
    const id = `${namespace}/${coalition}`;
    sizes.set(id, (sizes.get(id) ?? 0) + 1);
  }
  metrics.clear('mbcas_coalition_size');
  metrics.set('mbcas_coalition_count', {}, sizes.size);
  for (const [id, size] of sizes) metrics.set('mbcas_coalition_size', { coalition_id: id }, size);
  const isStable = pods.every(({ coalition, share, claim }) => coalition === undefined || share >= claim);
  metrics.set('mbcas_core_stable', {}, isStable ? 1 : 0);
}

function reportPod(metrics: AgentMetrics, plan: PodPlan, { measured }: Tick, { metricOf }: ReportContext): void {
  const labels = { namespace: plan.namespace, pod: plan.name };
  const measurement = measured.get(plan.uid);
  const fact = metricOf(plan.uid);
  metrics.set('mbcas_pod_allocation_milli', labels, plan.share);
  metrics.set('mbcas_allocation_milli', labels, plan.share);
  metrics.set('mbcas_need_milli', labels, plan.claim);
  metrics.set('mbcas_want_milli', labels, plan.want);
  if (plan.demand !== undefined) metrics.set('mbcas_demand_raw', labels, plan.demand.shortage);
  metrics.set('mbcas_demand_smoothed', labels, plan.want / Math.max(1, plan.share));
  if (measurement !== undefined) {
    metrics.set('mbcas_pod_usage_milli', labels, measurement.usage);
    const ratio = toldRatio(measurement) ?? 0;
    metrics.set('mbcas_pod_throttling_ratio', labels, ratio);
    metrics.set('mbcas_throttling_ratio', labels, ratio);
  }
  const surplus = plan.share - plan.claim;
  const utility = surplus > 0 ? Math.log(surplus) : Number.NEGATIVE_INFINITY;
  metrics.set('mbcas_utility', labels, utility);
  metrics.set('mbcas_game_utility', labels, plan.weight * utility);
  metrics.set('mbcas_slo_score', labels, fact === undefined ? 1 : satisfactionOf(fact.target, fact.value));
  if (plan.credit !== undefined) metrics.set('mbcas_shapley_credit', labels, plan.credit);
}

const sum = (pods: readonly PodPlan[], of: (pod: PodPlan) => number): number =>
  pods.reduce((total, pod) => total + of(pod), 0);

/** A plan in words: what `stowage explain` and the status output say, each sentence with the numbers behind it. */
import { ascending } from '../../lib/ascending.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { ReasonName } from '../../lib/reasons.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import type { PodPlan, WorkloadPlan } from './plan.ts';
import type { ManagedPolicy } from './policy.ts';
import { incompleteText, isBalanced, isMove } from './standing.ts';

/** What keeps a decision from being carried out, as the guards say it. */
export interface Blocking {
  readonly reason: ReasonName;
  readonly message: string;
  /** What a person can do about it. */
  readonly advice: string;
  /** From the moment it was asked; undefined where only a change in the cluster helps. */
  readonly retryAfterMillis: Millis | undefined;
}

export interface PlanExplanation {
  readonly workload: string;
  /** One sentence: is all well, and if not what is the matter. */
  readonly headline: string;
  /** The policy in force and where each value comes from. */
  readonly policy: readonly string[];
  /** One row a pod, by slot; pods without a slot last. */
  readonly pods: readonly PodPlan[];
  readonly notes: readonly string[];
  /** Every objection, first the one that counts. */
  readonly blocks: readonly Blocking[];
  /** What happens next and when. */
  readonly next: string;
}

/**
 * @param blocks what the guards object to about the plan's eviction or fallback, in order; empty when nothing does or
 * there is none.
 */
export function explainPlan(plan: WorkloadPlan, blocks: readonly Blocking[], now: EpochMillis): PlanExplanation {
  return {
    workload: workloadKey(plan.workload),
    headline: headlineOf(plan),
    policy: plan.policy.state === 'managed' ? policyLines(plan.policy, now) : policyProblems(plan),
    pods: [...plan.pods].sort(bySlot),
    notes: plan.notes.map(({ text }) => text),
    blocks,
    next: nextStep(plan, blocks, now),
  };
}

/** Of a kind that placement has no say in, such as a DaemonSet: its pods are sized only. */
export function unplacedExplanation(workload: WorkloadRef, notes: readonly string[] = []): PlanExplanation {
  const headline = `not placed: no pod of a ${workload.kind} is steered or moved`;
  return { workload: workloadKey(workload), headline, policy: [], pods: [], notes, blocks: [], next: 'nothing to do' };
}

function headlineOf(plan: WorkloadPlan): string {
  const { policy, target, actual, drift } = plan;
  if (policy.state !== 'managed' || target === undefined) {
    return policy.state === 'invalid' ? 'left alone, its configuration is not valid' : 'not managed';
  }
  const seen = `${actual.spot} on spot, ${actual.onDemand} on on-demand`;
  const unknown = actual.unknown === 0 ? '' : `, ${actual.unknown} on an unknown side`;
  const wanted = `${target.spot} and ${target.onDemand} wanted`;
  const verdict = drift > 0 ? `; ${drift} to move` : isBalanced(plan) ? '; as it should be' : '; not settled yet';
  return `${seen}${unknown}, ${wanted}${verdict}`;
}

function policyLines({ rule, window, sources }: ManagedPolicy, now: EpochMillis): string[] {
  const { minOnDemand } = rule;
  const floor = minOnDemand.kind === 'count' ? `${minOnDemand.count}` : `${minOnDemand.percent}% of the replicas`;
  const basis = rule.basis === 'total' ? 'of all replicas' : 'of the replicas above the floor';
  return [
    `spot percentage ${rule.spotPercentage} ${basis}, rounded ${rule.rounding === 'ceil' ? 'up' : 'down'} (from ${sources.spotPercentage})`,
    `at least ${floor} on on-demand (from ${sources.minOnDemand})`,
    window === undefined
      ? 'pods may be moved at any time'
      : `pods may be moved ${window.text}, ${window.isOpen(now) ? 'open' : 'closed'} now (from ${sources.window})`,
  ];
}

function policyProblems({ policy }: WorkloadPlan): string[] {
  if (policy.state === 'managed') return [];
  if (policy.state === 'unmanaged') return [policy.reason.message];
  return policy.problems.map(
    ({ where, key, value, accepted }) =>
      `${where} ${key}: ${JSON.stringify(value)} is not valid; accepted: ${accepted}`,
  );
}

function bySlot(a: PodPlan, b: PodPlan): number {
  const difference = (a.slot ?? Number.MAX_SAFE_INTEGER) - (b.slot ?? Number.MAX_SAFE_INTEGER);
  return difference !== 0 ? difference : ascending(a.ref.name, b.ref.name);
}

function nextStep(plan: WorkloadPlan, blocks: readonly Blocking[], now: EpochMillis): string {
  const ending = plan.decisions.find(isMove);
  const [first] = blocks;
  if (ending === undefined) {
    const stamps = plan.decisions.length;
    if (stamps > 0) return `the stamps of ${stamps} ${stamps === 1 ? 'pod' : 'pods'} are corrected; no pod is moved`;
    if (plan.drift > 0) return 'nothing: no pod can be moved, see the notes';
    const waits = incompleteText(plan);
    return waits === undefined ? 'nothing to do' : `nothing to move: ${waits}`;
  }
  const move =
    ending.kind === 'evict'
      ? `pod ${ending.pod.name} moves from ${ending.from} to ${ending.to}`
      : `pod ${ending.pod.name}, which found no place on spot, is recreated on ${ending.to}`;
  if (first === undefined) return `${move} now`;
  const waits = blocks.map((block) => block.retryAfterMillis);
  // A block without a time waits for a change nobody can foresee; with only timed ones the last to end decides.
  if (waits.some((wait) => wait === undefined)) return `${move} once nothing blocks it: ${first.message}`;
  const wait = Math.max(...waits.map((millis) => millis ?? 0));
  return `${move} at ${new Date(now + wait).toISOString()}, in ${formatDuration(Math.ceil(wait / 1000) * 1000)}`;
}

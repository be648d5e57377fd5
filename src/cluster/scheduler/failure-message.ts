/** The condition PodScheduled=False of a pod, and its sentence: how many nodes refused it, and why. Pure. */
import type { Pod } from '../../api/core.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { type Condition, findCondition, timestampOf } from '../objects.ts';

/** Why one node cannot take the pod. */
export interface Refusal {
  /** More than one only for resources, e.g. `Insufficient cpu` and `Insufficient memory`. */
  readonly reasons: readonly string[];
  /** Removing pods from the node could not help, e.g. a label is missing. */
  readonly isUnresolvable: boolean;
}

const NOT_HELPFUL = 'Preemption is not helpful for scheduling';
const NO_VICTIMS = 'No preemption victims found for incoming pod';

/** Source: pkg/scheduler/framework/types.go `FitError`; the counts are sorted as texts, as there. */
export function failureMessage(refusals: readonly Refusal[], preemptionPolicy: string | undefined): string {
  const nodes = refusals.length;
  if (nodes === 0) return 'no nodes available to schedule pods';
  const filtered = histogram(refusals.flatMap((refusal) => refusal.reasons));
  const preemption =
    preemptionPolicy === 'Never'
      ? 'not eligible due to preemptionPolicy=Never.'
      : `0/${nodes} nodes are available: ${histogram(refusals.map((refusal) => (refusal.isUnresolvable ? NOT_HELPFUL : NO_VICTIMS)))}.`;
  return `0/${nodes} nodes are available: ${filtered}. preemption: ${preemption}`;
}

/** The form used when the pod is refused before any node is looked at. */
export function prefilterMessage(nodes: number, reason: string, isUnresolvable: boolean): string {
  const preemption = isUnresolvable ? NOT_HELPFUL : NO_VICTIMS;
  return `0/${nodes} nodes are available: ${reason}. preemption: 0/${nodes} nodes are available: ${nodes} ${preemption}.`;
}

/** The condition with this message; undefined where the pod has it already. */
export function failureCondition({ status }: Pod, message: string, now: EpochMillis): Condition | undefined {
  const current = findCondition(status?.conditions, 'PodScheduled');
  const isFailed = current?.status === 'False';
  if (isFailed && current.message === message) return undefined;
  const since = isFailed ? current.lastTransitionTime : undefined;
  const lastTransitionTime = since ?? timestampOf(now);
  return { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime };
}

function histogram(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}

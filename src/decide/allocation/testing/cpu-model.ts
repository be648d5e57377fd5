/**
 * A tiny model of one node's CPU for closed-loop tests: weighted water filling of the cores over what pods would burn,
 * held by their quotas. Throttling and pressure follow from what they did not get.
 */
import type { AllocationPod } from '../allocation-pod.ts';
import { sizeOf } from '../allocation-pod.ts';
import type { Measurement } from '../demand.ts';
import type { NodeInput, NodeMemory, NodePlan } from '../node-input.ts';
import { planNode } from '../plan-node.ts';
import { resized, T0, testInput } from './pods.ts';

export interface Worker {
  readonly pod: AllocationPod;
  /** CPU it would burn at a second of the run, in millicores. */
  readonly load: (second: number) => number;
}

export interface Moment {
  readonly second: number;
  readonly plan: NodePlan;
  /** Per pod name. */
  readonly served: Readonly<Record<string, number>>;
  readonly requests: Readonly<Record<string, number>>;
  readonly writes: number;
}

/** What every pod burns: cores by weight (the request), nobody above its load or quota. */
export function burn(pods: readonly AllocationPod[], loads: readonly number[], cores: number): Measurement[] {
  const caps = pods.map((pod, index) => Math.min(loads[index] ?? 0, sizeOf(pod).limit ?? Number.POSITIVE_INFINITY));
  const weights = pods.map((pod) => Math.max(2, sizeOf(pod).request));
  const used = pods.map(() => 0);
  let left = cores;
  let open = [...pods.keys()];
  while (left > 1e-9 && open.length > 0) {
    const weight = open.reduce((sum, index) => sum + (weights[index] ?? 0), 0);
    const portion = left / weight;
    const sated = open.filter((index) => (caps[index] ?? 0) - (used[index] ?? 0) <= portion * (weights[index] ?? 0));
    for (const index of sated.length > 0 ? sated : open) {
      const more = sated.length > 0 ? (caps[index] ?? 0) - (used[index] ?? 0) : portion * (weights[index] ?? 0);
      used[index] = (used[index] ?? 0) + more;
      left -= more;
    }
    if (sated.length === 0) break;
    open = open.filter((index) => !sated.includes(index));
  }
  return pods.map((pod, index) => {
    const [usage, load, cap] = [used[index] ?? 0, loads[index] ?? 0, caps[index] ?? 0];
    const limit = sizeOf(pod).limit;
    const isThrottled = limit !== undefined && load > limit && usage >= limit - 1;
    const waiting = cap > 0 ? Math.max(0, (cap - usage) / cap) : 0;
    return { usage, throttledRatio: limit === undefined ? undefined : isThrottled ? 1 : 0, pressure: waiting };
  });
}

/** Runs the loop: measure, plan, apply what is written at once. `check` sees the pods after every step. */
export function runLoop(
  workers: readonly Worker[],
  options: {
    readonly seconds: number;
    readonly tick?: number;
    readonly cores?: number;
    readonly input?: Partial<NodeInput>;
    /** What is otherwise at a second of the run. */
    readonly inputAt?: (second: number) => Partial<NodeInput>;
    readonly check?: (pods: readonly AllocationPod[]) => void;
  },
): Moment[] {
  const { seconds, tick = 2, cores = 2000, input = {}, inputAt, check } = options;
  let pods = workers.map(({ pod }) => pod);
  const originals = pods.map(sizeOf);
  let memory: NodeMemory = new Map();
  const moments: Moment[] = [];
  for (let second = 0; second < seconds; second += tick) {
    const measured = burn(
      pods,
      workers.map(({ load }) => load(second)),
      cores,
    );
    const entries = pods.map((pod, index) => ({ pod, measured: measured[index], original: originals[index] }));
    const plan = planNode(testInput(entries, { ...input, memory, ...inputAt?.(second), now: T0 + second * 1000 }));
    memory = plan.memory;
    const served = Object.fromEntries(pods.map(({ name }, index) => [name, measured[index]?.usage ?? 0]));
    for (const { uid, target } of plan.writes) {
      pods = pods.map((pod) => (pod.uid === uid ? resized(pod, target) : pod));
      check?.(pods);
    }
    const requests = Object.fromEntries(pods.map((pod) => [pod.name, sizeOf(pod).request]));
    moments.push({ second, plan, served, requests, writes: plan.writes.length });
  }
  return moments;
}

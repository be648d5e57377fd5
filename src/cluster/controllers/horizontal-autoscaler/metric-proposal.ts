/**
 * How many replicas one resource metric asks for. Pure.
 * Source: pkg/controller/podautoscaler/replica_calculator.go `GetResourceReplicas`, `GetRawResourceReplicas`, `groupPods`.
 */
import type { EpochMillis, Millis } from '../../../lib/units.ts';

/** How far from the target nothing happens. */
export const DEFAULT_TOLERANCE = 0.1;
/** A pod's CPU figures right after its start say nothing yet. */
const CPU_INITIALIZATION_MILLIS: Millis = 300_000;
/** A pod unready since about its start never was ready. */
const INITIAL_READINESS_MILLIS: Millis = 30_000;

/** A pod as the replica calculator sees it. */
export interface ScaledPod {
  readonly isPending: boolean;
  readonly startedAtMillis: EpochMillis | undefined;
  readonly isReady: boolean;
  /** Last change of its Ready condition. */
  readonly readyChangedAtMillis: EpochMillis | undefined;
  /** Millicores or bytes requested by the containers the metric speaks of; undefined where one of them requests none. */
  readonly request: number | undefined;
  /** What it uses; undefined where no figures are known. */
  readonly usage:
    | { readonly amount: number; readonly atMillis: EpochMillis; readonly windowMillis: Millis }
    | undefined;
}

export interface ProposalInput {
  readonly resource: 'cpu' | 'memory';
  /** Percent of the request, or an amount per pod. */
  readonly target: { readonly utilization: number } | { readonly average: number };
  readonly pods: readonly ScaledPod[];
  readonly currentReplicas: number;
  readonly tolerance: number;
  readonly now: EpochMillis;
}

export type Proposal =
  | {
      readonly ok: true;
      readonly replicas: number;
      /** Percent of the requests used, where the target is one. */
      readonly utilization: number | undefined;
      readonly average: number;
    }
  | { readonly ok: false; readonly problem: 'no metrics' | 'no ready pods' | 'missing request' };

/** Pods without figures are taken to be against the change: idle when it grows, in full use when it shrinks. */
export function proposeReplicas(input: ProposalInput): Proposal {
  const { target, pods, currentReplicas, tolerance } = input;
  const isUtilization = 'utilization' in target;
  if (isUtilization && pods.some(({ request }) => request === undefined))
    return { ok: false, problem: 'missing request' };
  const known = pods.filter(({ usage }) => usage !== undefined);
  if (known.length === 0) return { ok: false, problem: 'no metrics' };
  const unready = pods.filter((pod) => isUnready(pod, input));
  const ready = known.filter((pod) => !unready.includes(pod));
  const missing = pods.filter((pod) => pod.usage === undefined && !unready.includes(pod));
  if (ready.length === 0) return { ok: false, problem: 'no ready pods' };

  const used = new Map(ready.map((pod) => [pod, pod.usage?.amount ?? 0]));
  const first = ratioOf(used, target);
  const told = {
    utilization: isUtilization ? Math.round(first * target.utilization) : undefined,
    average: Math.floor(sumOf(used.values()) / used.size),
  };
  const keep: Proposal = { ok: true, replicas: currentReplicas, ...told };
  const growsWithUnready = unready.length > 0 && first > 1;
  if (!growsWithUnready && missing.length === 0) {
    if (isWithin(first, tolerance)) return keep;
    return { ok: true, replicas: ceil(first * ready.length), ...told };
  }
  // Whatever is not known is taken to be against the change.
  for (const pod of missing) {
    const full = isUtilization ? ((pod.request ?? 0) * Math.max(100, target.utilization)) / 100 : target.average;
    used.set(pod, first < 1 ? full : 0);
  }
  if (growsWithUnready) for (const pod of unready) used.set(pod, 0);
  const ratio = ratioOf(used, target);
  if (isWithin(ratio, tolerance) || (first < 1 && ratio > 1) || (first > 1 && ratio < 1)) return keep;
  const replicas = ceil(ratio * used.size);
  if ((ratio < 1 && replicas > currentReplicas) || (ratio > 1 && replicas < currentReplicas)) return keep;
  return { ok: true, replicas, ...told };
}

/** One that has started and has no figures yet is none of these: it may be busy, and is taken to be on the way down. */
function isUnready(pod: ScaledPod, { resource, now }: ProposalInput): boolean {
  if (pod.isPending) return true;
  const { startedAtMillis, readyChangedAtMillis, isReady, usage } = pod;
  if (resource !== 'cpu' || usage === undefined) return false;
  if (startedAtMillis === undefined || readyChangedAtMillis === undefined) return true;
  if (startedAtMillis + CPU_INITIALIZATION_MILLIS <= now)
    return !isReady && startedAtMillis + INITIAL_READINESS_MILLIS > readyChangedAtMillis;
  // Figures must be from a whole window in which it was ready.
  return !isReady || usage.atMillis < readyChangedAtMillis + usage.windowMillis;
}

function ratioOf(used: ReadonlyMap<ScaledPod, number>, target: ProposalInput['target']): number {
  const total = sumOf(used.values());
  if ('average' in target) return total / used.size / target.average;
  const requested = sumOf([...used.keys()].map(({ request }) => request ?? 0));
  // In whole percent, as the controller computes it.
  return Math.floor((total * 100) / requested) / target.utilization;
}

function isWithin(ratio: number, tolerance: number): boolean {
  return Math.abs(1 - ratio) <= tolerance + 1e-9;
}

/** Up, but not for a rounding error. */
function ceil(value: number): number {
  return Math.max(0, Math.ceil(value - 1e-9));
}

function sumOf(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/**
 * Integration 10, application metrics: a figure of the pod itself (queue length, latency) by its target raises what the
 * pod wants. It lowers the want only where the metric is declared to know better than the CPU does.
 */
import type { EpochMillis, Millicores, Millis } from '../../../lib/units.ts';
import type { Clamp } from '../clamp.ts';

/** One reading of a query that an administrator named; values as they come. */
export interface MetricFact {
  readonly value: number;
  readonly target: number;
  readonly at: EpochMillis;
  readonly isAuthoritative: boolean;
}

const STALE: Millis = 60_000;
const LEAST = 0.5;
const MOST = 2;

/** Stale, missing and impossible values change nothing. */
export function applyMetric(
  want: Millicores,
  metric: MetricFact | undefined,
  now: EpochMillis,
): { readonly want: Millicores; readonly clamps: readonly Clamp[] } {
  if (metric === undefined || now - metric.at > STALE) return { want, clamps: [] };
  const ratio = metric.value / metric.target;
  if (!Number.isFinite(ratio) || metric.target <= 0 || metric.value < 0) return { want, clamps: [] };
  const asked = Math.ceil(want * Math.min(MOST, Math.max(LEAST, ratio)));
  const after = metric.isAuthoritative ? asked : Math.max(want, asked);
  return { want: after, clamps: after === want ? [] : [{ reason: 'CustomMetric', what: 'want', before: want, after }] };
}

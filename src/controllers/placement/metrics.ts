/** What the placement controller tells Prometheus. */
import type { EvictionResult } from '../../act/eviction-outcome.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';

/** Label values of a workload's series, as Spotalis writes them. */
export function workloadLabels(workload: WorkloadRef) {
  return { namespace: workload.namespace, workload: workload.name, workload_type: workload.kind.toLowerCase() };
}

const evictionResults: Readonly<Record<EvictionResult, string>> = {
  evicted: 'evicted',
  gone: 'gone',
  changed: 'conflict',
  'blocked-by-pdb': 'blocked',
  'multiple-pdbs': 'blocked',
  throttled: 'throttled',
  forbidden: 'error',
  failed: 'error',
  unknown: 'error',
};

/** Counts an eviction that was asked for, of whichever engine, by Spotalis's series. */
export function countEviction(metrics: Metrics, workload: WorkloadRef, result: EvictionResult): void {
  const label = evictionResults[result];
  metrics.inc('spotalis_evictions_total', { result: label });
  const isError = label === 'error';
  const labels = workloadLabels(workload);
  // As in Spotalis a budget that says no is no error.
  metrics.inc('spotalis_reconciliations_total', {
    ...labels,
    action: 'rebalance',
    result: isError ? 'error' : 'success',
  });
  if (isError) metrics.inc('spotalis_reconciliation_errors_total', { ...labels, error_type: 'eviction' });
}

/** A fallback is an eviction of a pod that never ran: no rebalancing, but the API server is asked all the same. */
export function countFallback(metrics: Metrics, result: EvictionResult): void {
  metrics.inc('spotalis_evictions_total', { result: evictionResults[result] });
  if (result === 'evicted') metrics.inc('spotalis_fallbacks_total', {});
}

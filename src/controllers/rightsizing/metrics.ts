/**
 * Gauges of rightsizing, set anew when somebody scrapes: series of policies and workloads that are gone are not among
 * them.
 */
import { MAX_WORKLOADS_IN_STATUS } from '../../api/optimization-policy-status.ts';
import { byWorth } from '../../decide/rightsizing/policy-status.ts';
import { sumSavings, worthOf } from '../../decide/rightsizing/savings.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { isValidPolicy, type PolicyRecord } from '../../model/optimization-policy.ts';
import type { PolicyBooks } from './policies.ts';
import type { WorkloadResult } from './result.ts';

const GAUGES = [
  'optipod_workloads_monitored',
  'optipod_workloads_updated',
  'optipod_workloads_skipped',
  'optipod_workloads_unread',
  'optipod_policy_invalid',
  'optipod_recommended_cpu_cores',
  'optipod_recommended_memory_bytes',
  'optipod_savings_cpu_cores',
  'optipod_savings_memory_bytes',
] as const;

/**
 * CPU in cores and memory in bytes, as OptiPod's series have them. Series of recommendations are bounded like the
 * status.
 * @param policies those that exist; empty on a replica that does not lead.
 */
export function reportRightsizing(
  metrics: Metrics,
  policies: readonly PolicyRecord[],
  books: Pick<PolicyBooks, 'of'>,
): void {
  for (const gauge of GAUGES) metrics.clear(gauge);
  // Policies of both API groups may share a namespace and a name: their series are of both together.
  for (const alike of Map.groupBy(policies, ({ namespace, name }) => `${namespace}/${name}`).values()) {
    const [first] = alike;
    if (first === undefined) continue;
    const labels = { namespace: first.namespace, policy: first.name };
    metrics.set('optipod_policy_invalid', labels, alike.filter((policy) => !isValidPolicy(policy)).length);
    const resultsOfEach = alike.map(({ uid }) => [...books.of(uid).results.values()]);
    reportPolicy(metrics, labels, resultsOfEach.flat());
    for (const results of resultsOfEach) for (const result of listedOf(results)) reportRecommendation(metrics, result);
  }
}

function reportPolicy(
  metrics: Metrics,
  labels: { readonly namespace: string; readonly policy: string },
  results: readonly WorkloadResult[],
): void {
  metrics.set('optipod_workloads_monitored', labels, results.length);
  metrics.set('optipod_workloads_updated', labels, results.filter(({ entry }) => entry.status === 'Applied').length);
  const unread = results.filter(({ metricsProblem }) => metricsProblem !== undefined);
  metrics.set('optipod_workloads_unread', labels, unread.length);
  for (const [reason, skipped] of Map.groupBy(results.filter(isSkipped), ({ entry }) => entry.reason ?? 'Unknown')) {
    metrics.set('optipod_workloads_skipped', { ...labels, reason }, skipped.length);
  }
  const saved = sumSavings(results.map(({ saving }) => saving));
  metrics.set('optipod_savings_cpu_cores', labels, saved.cpuMillis / 1000);
  metrics.set('optipod_savings_memory_bytes', labels, saved.memoryBytes);
}

/** As many as the status lists, and the same ones, but for what it leaves out where entries are very large. */
function listedOf(results: readonly WorkloadResult[]): readonly WorkloadResult[] {
  return results
    .map((result) => ({ result, of: result.entry, worth: worthOf(result.saving) }))
    .toSorted(byWorth)
    .slice(0, MAX_WORKLOADS_IN_STATUS)
    .map(({ result }) => result);
}

function isSkipped({ entry }: WorkloadResult): boolean {
  return entry.status === 'Skipped' || entry.status === 'Error';
}

function reportRecommendation(metrics: Metrics, { entry, advice }: WorkloadResult): void {
  const { namespace, name: workload, kind } = entry;
  for (const { container, cpu, memory } of advice) {
    const labels = { namespace, workload, kind, container };
    if (cpu.target !== undefined) metrics.set('optipod_recommended_cpu_cores', labels, cpu.target / 1000);
    if (memory.target !== undefined) metrics.set('optipod_recommended_memory_bytes', labels, memory.target);
  }
}

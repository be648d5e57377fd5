/** Gauges of allocation, set when they are asked for. */
import { actualSizeOf, allocationPodOf } from '../decide/allocation/allocation-pod.ts';
import type { Metrics } from '../lib/metrics.ts';
import { toMillicores, tryParseQuantity } from '../lib/quantity.ts';
import type { SizingView } from '../model/sizing-view.ts';
import type { AllocationStores } from '../observe/allocation-stores.ts';
import type { AllocationAgents } from './allocation-agents.ts';

export interface AllocationMetricsOptions {
  readonly metrics: Metrics;
  readonly view: SizingView;
  readonly stores: AllocationStores;
  readonly agents: AllocationAgents;
  readonly isLeader: boolean;
}

export function reportAllocation({ metrics, view, stores, agents, isLeader }: AllocationMetricsOptions): void {
  metrics.clear('mbcas_pod_cpu_allocation_millicores');
  metrics.clear('mbcas_pod_cpu_usage_millicores');
  metrics.clear('mbcas_pod_allocations');
  metrics.clear('mbcas_agents');
  if (!isLeader) return;
  const phases: Record<string, number> = { Pending: 0, Applied: 0, Failed: 0 };
  for (const { namespace, spec, status } of stores.all()) {
    const { phase = 'Pending' } = status;
    phases[phase] = (phases[phase] ?? 0) + 1;
    const found = view.pod(namespace, spec.podName);
    const actual = found === undefined ? undefined : actualSizeOf(allocationPodOf(found));
    const labels = { namespace, pod: spec.podName };
    if (actual !== undefined) metrics.set('mbcas_pod_cpu_allocation_millicores', labels, actual.request);
    const usage = spec.decision?.cpuUsage === undefined ? undefined : tryParseQuantity(spec.decision.cpuUsage);
    if (usage !== undefined) metrics.set('mbcas_pod_cpu_usage_millicores', labels, toMillicores(usage));
  }
  for (const [phase, count] of Object.entries(phases)) metrics.set('mbcas_pod_allocations', { phase }, count);
  const counts = agents.counts((name) => view.node(name) !== undefined);
  for (const [state, count] of Object.entries(counts)) metrics.set('mbcas_agents', { state }, count);
}

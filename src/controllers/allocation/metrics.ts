/** Gauges of allocation, read when they are asked for. */
import { actualSizeOf } from '../../decide/allocation/allocation-pod.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { tryParseMillicores } from '../../lib/quantity.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { AllocationStores } from '../../observe/allocation-stores.ts';
import type { AllocationAgents } from './agents.ts';

export interface AllocationMetricsOptions {
  readonly metrics: Metrics;
  readonly view: SizingView;
  readonly stores: AllocationStores;
  readonly agents: AllocationAgents;
  readonly isLeader: () => boolean;
}

/**
 * Sets the gauges when somebody scrapes. Replicas that do not lead tell none: each pod would be counted as often as
 * there are replicas.
 */
export function reportAllocation(options: AllocationMetricsOptions): void {
  const { metrics, view, stores, isLeader } = options;
  metrics.onRender(() => setCounts(options));
  metrics.onRead('mbcas_pod_cpu_allocation_millicores', function* () {
    if (!isLeader()) return;
    for (const { namespace, podName } of stores.all()) {
      const found = view.pod(namespace, podName);
      const actual = found && actualSizeOf(found.sizing);
      if (actual !== undefined) yield [{ namespace, pod: podName }, actual.request];
    }
  });
  metrics.onRead('mbcas_pod_cpu_usage_millicores', function* () {
    if (!isLeader()) return;
    for (const { namespace, podName, cpuUsage } of stores.all()) {
      const usage = tryParseMillicores(cpuUsage);
      if (usage !== undefined) yield [{ namespace, pod: podName }, usage];
    }
  });
}

function setCounts({ metrics, view, stores, agents, isLeader }: AllocationMetricsOptions): void {
  metrics.clear('mbcas_pod_allocations');
  metrics.clear('mbcas_agents');
  if (!isLeader()) return;
  const phases: Record<string, number> = { Pending: 0, Applied: 0, Failed: 0 };
  for (const { phase = 'Pending' } of stores.all()) {
    phases[phase] = (phases[phase] ?? 0) + 1;
  }
  for (const [phase, count] of Object.entries(phases)) metrics.set('mbcas_pod_allocations', { phase }, count);
  const counts = agents.counts((name) => view.node(name) !== undefined);
  for (const [state, count] of Object.entries(counts)) metrics.set('mbcas_agents', { state }, count);
}

/** Gauges of allocation, read when they are asked for. */
import { actualSizeOf } from '../../decide/allocation/allocation-pod.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { tryParseMillicores } from '../../lib/quantity.ts';
import { hasEnded } from '../../model/owners.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { AllocationStores } from '../../observe/allocation-stores.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
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
  const { metrics, isLeader } = options;
  metrics.onRender(() => setCounts(options));
  metrics.onRead('mbcas_pod_cpu_allocation_millicores', function* () {
    if (!isLeader()) return;
    for (const [{ namespace, podName }, { sizing }] of present(options)) {
      const actual = actualSizeOf(sizing);
      if (actual !== undefined) yield [{ namespace, pod: podName }, actual.request];
    }
  });
  metrics.onRead('mbcas_pod_cpu_usage_millicores', function* () {
    if (!isLeader()) return;
    for (const [{ namespace, podName, cpuUsage }] of present(options)) {
      const usage = tryParseMillicores(cpuUsage);
      if (usage !== undefined) yield [{ namespace, pod: podName }, usage];
    }
  });
}

/**
 * Allocations of pods that have not ended: those of others tell what was. One to a name, which the allocation of a
 * predecessor has, too, until it is collected.
 */
function* present({
  view,
  stores,
}: Pick<AllocationMetricsOptions, 'view' | 'stores'>): Generator<readonly [AllocationRecord, SizedPod]> {
  for (const record of stores.all()) {
    const found = view.pod(record.namespace, record.podName);
    if (found !== undefined && !hasEnded(found.pod) && stores.of(found.pod) === record) yield [record, found];
  }
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

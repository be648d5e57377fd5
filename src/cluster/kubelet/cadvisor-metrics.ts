/** The kubelet's `/metrics/cadvisor`, which Prometheus reads. Names and labels as cAdvisor writes them for containerd. */
import type { ContainerUsage } from '../load/container-usage.ts';
import { nameOf, namespaceOf, uidOf } from '../objects.ts';
import { amountsOf } from '../pod-requests.ts';
import { createMetricsText, type Labels, type Sample } from './metrics-text.ts';
import { type NodeUsage, type PodUsage, podsOf } from './node-usage.ts';
import { containerHashOf } from './pod-status.ts';

/** A pod's sandbox: it has series of its own, which whoever asks without `container!=""` counts twice. */
const PAUSE = { image: 'registry.k8s.io/pause:3.10.1', bytes: 256 * 1024, cpuSeconds: 0.03 } as const;
/** Of the working set; the rest is page cache. */
const RSS_SHARE = 0.9;
/** The size of the CFS period in microseconds. */
const PERIOD_MICROS = 100_000;

interface Row {
  readonly labels: Labels;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly startedAtMillis: number;
  /** Absent for rows that are no container. */
  readonly usage?: ContainerUsage;
}

/** Also serves rows that a careless query counts twice, as a real kubelet does: the root, the pod, the sandbox. */
export function cadvisorMetrics(node: NodeUsage): string {
  const text = createMetricsText(node.at);
  const pods = podsOf(node);
  const rows: readonly Row[] = [rootRow(node), ...pods.flatMap(podRows)];
  const of = (read: (row: Row) => number, more: Labels = {}): Sample[] =>
    rows.map((row) => ({ labels: { ...row.labels, ...more }, value: read(row) }));
  const ofContainers = (read: (usage: ContainerUsage) => number | undefined): Sample[] =>
    rows.flatMap(({ labels, usage }) => {
      const value = usage === undefined ? undefined : read(usage);
      return value === undefined ? [] : [{ labels, value }];
    });
  const limited = (read: (usage: ContainerUsage) => number) => (usage: ContainerUsage) =>
    Number.isFinite(usage.settings.limit) ? read(usage) : undefined;

  text.add(
    'container_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed in seconds.',
    of(({ cpuSeconds }) => cpuSeconds, { cpu: 'total' }),
  );
  text.add(
    'container_cpu_cfs_periods_total',
    'counter',
    'Number of elapsed enforcement period intervals.',
    ofContainers(limited(({ periods }) => Math.floor(periods))),
  );
  text.add(
    'container_cpu_cfs_throttled_periods_total',
    'counter',
    'Number of throttled period intervals.',
    ofContainers(limited(({ throttledPeriods }) => Math.floor(throttledPeriods))),
  );
  text.add(
    'container_cpu_cfs_throttled_seconds_total',
    'counter',
    'Total time duration the container has been throttled.',
    ofContainers(limited(({ throttledSeconds }) => throttledSeconds)),
  );
  text.add(
    'container_memory_rss',
    'gauge',
    'Size of RSS in bytes.',
    of(({ memoryBytes }) => Math.floor(memoryBytes * RSS_SHARE)),
  );
  text.add(
    'container_memory_usage_bytes',
    'gauge',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
    of(({ memoryBytes }) => memoryBytes),
  );
  text.add(
    'container_memory_working_set_bytes',
    'gauge',
    'Current working set in bytes.',
    of(({ memoryBytes }) => memoryBytes),
  );
  text.add(
    'container_pressure_cpu_stalled_seconds_total',
    'counter',
    'Total time duration no tasks in the container could make progress due to CPU congestion.',
    ofContainers(({ stalledSeconds }) => stalledSeconds),
  );
  text.add(
    'container_pressure_cpu_waiting_seconds_total',
    'counter',
    'Total time duration tasks in the container have waited due to CPU congestion.',
    ofContainers(({ waitingSeconds }) => waitingSeconds),
  );
  text.add(
    'container_spec_cpu_period',
    'gauge',
    'CPU period of the container.',
    ofContainers(() => PERIOD_MICROS),
  );
  text.add(
    'container_spec_cpu_quota',
    'gauge',
    'CPU quota of the container.',
    ofContainers(limited(({ settings }) => (settings.limit * PERIOD_MICROS) / 1000)),
  );
  text.add(
    'container_spec_cpu_shares',
    'gauge',
    'CPU share of the container.',
    ofContainers(({ settings }) => settings.weight),
  );
  text.add(
    'container_spec_memory_limit_bytes',
    'gauge',
    'Memory limit for the container.',
    ofContainers(({ container }) => amountsOf(container.resources.limits).get('memory') ?? 0),
  );
  text.add(
    'container_start_time_seconds',
    'gauge',
    'Start time of the container since unix epoch in seconds.',
    of(({ startedAtMillis }) => startedAtMillis / 1000),
  );
  text.add('machine_cpu_cores', 'gauge', 'Number of logical CPU cores.', [
    { labels: {}, value: Math.ceil(node.capacity.cpuMillis / 1000) },
  ]);
  text.add('machine_memory_bytes', 'gauge', 'Amount of memory installed on the machine.', [
    { labels: {}, value: node.capacity.memoryBytes },
  ]);
  return text.toString();
}

const NO_CONTAINER = { container: '', image: '', name: '', namespace: '', pod: '' } as const;

function rootRow({ cpuSeconds, memoryBytes }: NodeUsage): Row {
  return { labels: { ...NO_CONTAINER, id: '/' }, cpuSeconds, memoryBytes, startedAtMillis: 0 };
}

/** A pod's own row, its sandbox, and its containers. */
function podRows({ pod, containers, cpuSeconds, memoryBytes }: PodUsage): Row[] {
  const place = { namespace: namespaceOf(pod), pod: nameOf(pod) };
  const slice =
    { Guaranteed: '', Burstable: '/burstable', BestEffort: '/besteffort' }[pod.status?.qosClass ?? ''] ?? '';
  const group = `/kubepods${slice}/pod${uidOf(pod)}`;
  const startedAtMillis = Math.min(...containers.map((each) => each.startedAtMillis));
  const sandbox = containerHashOf(pod, '', 0);
  return [
    { labels: { ...NO_CONTAINER, ...place, id: group }, cpuSeconds, memoryBytes, startedAtMillis },
    {
      labels: { container: '', ...place, id: `${group}/${sandbox}`, image: PAUSE.image, name: sandbox },
      cpuSeconds: PAUSE.cpuSeconds,
      memoryBytes: PAUSE.bytes,
      startedAtMillis,
    },
    ...containers.map((usage): Row => {
      const { container } = usage;
      const name = containerHashOf(pod, container.name, container.restarts);
      return {
        labels: { container: container.name, ...place, id: `${group}/${name}`, image: container.image, name },
        cpuSeconds: usage.cpuSeconds,
        memoryBytes: usage.memoryBytes,
        startedAtMillis: usage.startedAtMillis,
        usage,
      };
    }),
  ];
}

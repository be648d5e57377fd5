/** The kubelet's `/metrics/resource`, which metrics-server reads. Source: pkg/kubelet/metrics/collectors/resource_metrics.go. */
import type { ContainerUsage } from '../load/container-usage.ts';
import { nameOf, namespaceOf } from '../objects.ts';
import { createMetricsText, type Labels } from './metrics-text.ts';
import { type NodeUsage, type PodUsage, podsOf } from './node-usage.ts';

const STABLE = '[STABLE]';

export function resourceMetrics(usage: NodeUsage): string {
  const text = createMetricsText(usage.at);
  const pods = podsOf(usage);
  const podLabels = ({ pod }: PodUsage): Labels => ({ namespace: namespaceOf(pod), pod: nameOf(pod) });
  const perContainer = (read: (container: ContainerUsage) => number) =>
    pods.flatMap((pod) =>
      pod.containers.map((each) => ({
        labels: { ...podLabels(pod), container: each.container.name },
        value: read(each),
      })),
    );
  const perPod = (read: (pod: PodUsage) => number) => pods.map((pod) => ({ labels: podLabels(pod), value: read(pod) }));

  text.add(
    'container_cpu_usage_seconds_total',
    'counter',
    `${STABLE} Cumulative cpu time consumed by the container in core-seconds`,
    perContainer(({ cpuSeconds }) => cpuSeconds),
  );
  text.add(
    'container_memory_working_set_bytes',
    'gauge',
    `${STABLE} Current working set of the container in bytes`,
    perContainer(({ memoryBytes }) => memoryBytes),
  );
  text.add(
    'container_start_time_seconds',
    'gauge',
    `${STABLE} Start time of the container since unix epoch in seconds`,
    perContainer(({ startedAtMillis }) => startedAtMillis / 1000),
  );
  text.add(
    'node_cpu_usage_seconds_total',
    'counter',
    `${STABLE} Cumulative cpu time consumed by the node in core-seconds`,
    [{ labels: {}, value: usage.cpuSeconds }],
  );
  text.add('node_memory_working_set_bytes', 'gauge', `${STABLE} Current working set of the node in bytes`, [
    { labels: {}, value: usage.memoryBytes },
  ]);
  text.add(
    'pod_cpu_usage_seconds_total',
    'counter',
    `${STABLE} Cumulative cpu time consumed by the pod in core-seconds`,
    perPod(({ cpuSeconds }) => cpuSeconds),
  );
  text.add(
    'pod_memory_working_set_bytes',
    'gauge',
    `${STABLE} Current working set of the pod in bytes`,
    perPod(({ memoryBytes }) => memoryBytes),
  );
  const errors = createMetricsText(undefined);
  errors.add(
    'resource_scrape_error',
    'gauge',
    `${STABLE} 1 if there was an error while getting container metrics, 0 otherwise`,
    [{ labels: {}, value: 0 }],
  );
  return `${text}${errors}`;
}

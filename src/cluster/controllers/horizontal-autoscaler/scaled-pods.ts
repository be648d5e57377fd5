/** What an autoscaler looks at: the pods of its target, with what they request and use of one resource. */
import type { Pod } from '../../../api/core.ts';
import { parseDuration } from '../../../lib/duration.ts';
import { findCondition, nameOf, timeOf } from '../../objects.ts';
import { amountsOf } from '../../pod-requests.ts';
import { isReady } from '../../pod-state.ts';
import type { ScaledPod } from './metric-proposal.ts';
import type { PodMetrics } from './pod-metrics.ts';

/** @param container only this one counts; undefined for all of the pod. */
export function scaledPods(
  pods: readonly Pod[],
  metrics: ReadonlyMap<string, PodMetrics>,
  resource: 'cpu' | 'memory',
  container: string | undefined,
): ScaledPod[] {
  return pods.map((pod) => {
    const ready = findCondition(pod.status?.conditions, 'Ready');
    return {
      isPending: pod.status?.phase === 'Pending',
      startedAtMillis: timeOf(pod.status?.startTime),
      isReady: isReady(pod),
      readyChangedAtMillis: timeOf(ready?.lastTransitionTime),
      request: requestOf(pod, resource, container),
      usage: usageOf(metrics.get(nameOf(pod)), resource, container),
    };
  });
}

function requestOf(pod: Pod, resource: string, container: string | undefined): number | undefined {
  const sidecars = (pod.spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  let total = 0;
  for (const { name, resources } of [...(pod.spec?.containers ?? []), ...sidecars]) {
    if (container !== undefined && name !== container) continue;
    const request = amountsOf(resources?.requests).get(resource);
    if (request === undefined) return undefined;
    total += request;
  }
  return total;
}

function usageOf(metrics: PodMetrics | undefined, resource: string, container: string | undefined): ScaledPod['usage'] {
  if (metrics?.timestamp === undefined) return undefined;
  const counted = (metrics.containers ?? []).filter(({ name }) => container === undefined || name === container);
  if (counted.length === 0) return undefined;
  const amount = counted.reduce((total, { usage }) => total + (amountsOf({ ...usage }).get(resource) ?? 0), 0);
  return { amount, atMillis: timeOf(metrics.timestamp) ?? 0, windowMillis: parseDuration(metrics.window ?? '0') };
}

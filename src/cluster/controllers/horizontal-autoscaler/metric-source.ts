/** One metric of an autoscaler's spec: what it asks for, and how that is told. */
import type { HorizontalPodAutoscaler, Pod } from '../../../api/core.ts';
import {
  formatQuantity,
  fromBytes,
  fromMillicores,
  parseQuantity,
  toBytes,
  toMillicores,
} from '../../../lib/quantity.ts';
import type { MetricStatus } from './autoscaler-status.ts';
import { DEFAULT_TOLERANCE, proposeReplicas } from './metric-proposal.ts';
import type { PodMetrics } from './pod-metrics.ts';
import { scaledPods } from './scaled-pods.ts';

type Spec = NonNullable<HorizontalPodAutoscaler['spec']>;
type Metric = NonNullable<Spec['metrics']>[number];

/** What is known of the target's pods at one look. */
export interface MetricContext {
  readonly pods: readonly Pod[];
  /** By name of the pod; those without figures are missing. */
  readonly metrics: ReadonlyMap<string, PodMetrics>;
  /** Replicas the target asks for. */
  readonly current: number;
  readonly now: number;
}

export type MetricProposal =
  | { readonly ok: true; readonly replicas: number; readonly metric: string; readonly shown: MetricStatus }
  | { readonly ok: false; readonly why: string };

/**
 * Replicas by one metric alone. An expected outcome, not an error, where there is none: `why` in the words of the real
 * controller, which people search for (pkg/controller/podautoscaler/horizontal.go and replica_calculator.go).
 */
export function proposeMetric(metric: Metric, { pods, metrics, current, now }: MetricContext): MetricProposal {
  const source = metric.type === 'ContainerResource' ? metric.containerResource : metric.resource;
  const container = metric.type === 'ContainerResource' ? metric.containerResource?.container : undefined;
  const resource = source?.name;
  if (source === undefined || (resource !== 'cpu' && resource !== 'memory'))
    return { ok: false, why: `metrics of type ${metric.type} are not known here` };
  const { averageUtilization, averageValue } = source.target;
  const read = resource === 'cpu' ? toMillicores : toBytes;
  const target =
    averageUtilization === undefined
      ? { average: read(parseQuantity(averageValue ?? '0')) }
      : { utilization: averageUtilization };
  const kind = averageUtilization === undefined ? 'resource metric value' : 'utilization';
  const proposal = proposeReplicas({
    resource,
    target,
    pods: scaledPods(pods, metrics, resource, container),
    currentReplicas: current,
    tolerance: DEFAULT_TOLERANCE,
    now,
  });
  if (!proposal.ok) {
    const why = {
      'no metrics': `unable to get metrics for resource ${resource}: no metrics returned from resource metrics API`,
      'no ready pods': 'did not receive metrics for targeted pods (pods might be unready)',
      'missing request': `missing request for ${resource}`,
    }[proposal.problem];
    return { ok: false, why: `failed to get ${resource} ${kind}: ${why}` };
  }
  const write = resource === 'cpu' ? fromMillicores : fromBytes;
  const { utilization, average, replicas } = proposal;
  const currently = {
    ...(utilization === undefined ? {} : { averageUtilization: utilization }),
    averageValue: formatQuantity(write(average)),
  };
  const what = container === undefined ? `${resource} resource` : `${resource} container resource`;
  return {
    ok: true,
    replicas,
    metric: utilization === undefined ? what : `${what} utilization (percentage of request)`,
    shown:
      container === undefined
        ? { type: 'Resource', resource: { name: resource, current: currently } }
        : { type: 'ContainerResource', containerResource: { name: resource, container, current: currently } },
  };
}

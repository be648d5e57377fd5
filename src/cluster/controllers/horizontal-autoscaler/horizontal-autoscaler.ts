/** Stand-in of the horizontal pod autoscaler: resource metrics of `autoscaling/v2`, every 15 seconds. */
import type { HorizontalPodAutoscaler, Pod } from '../../../api/core.ts';
import { type ResourceType, resources } from '../../../api/resources.ts';
import { createWorkQueue, type HandlerResult } from '../../../kube/queue.ts';
import { isSameStatus, isSameValue, keyOf, matchesSelector, namespaceOf, timestampOf } from '../../objects.ts';
import { isActive as isActivePod } from '../../pod-state.ts';
import type { StandIn, StandInContext } from '../../stand-in.ts';
import { replaceStatus } from '../replace-status.ts';
import {
  type AutoscalerStatus,
  ableToScale,
  hasScale,
  isActive,
  isDisabled,
  isInactive,
  limitedBy,
  type MetricStatus,
  noScale,
  notZero,
  type Said,
  withSaid,
} from './autoscaler-status.ts';
import { proposeMetric } from './metric-source.ts';
import { readPodMetrics } from './pod-metrics.ts';
import { applyScalingRules, type ScalingHistory } from './scaling-rules.ts';

/** `--horizontal-pod-autoscaler-sync-period`. */
const SYNC_MILLIS = 15_000;
const WORKERS = 1;

/**
 * Of several metrics the one that asks for most decides. What is remembered (stabilisation, rates of change) is of this
 * process: it begins with the replicas there are, as the real controller does after a restart. Resource metrics only;
 * targets are Deployments, ReplicaSets and StatefulSets. Without figures it changes nothing.
 */
export function createHorizontalAutoscaler({ api, caches, clock, random, log }: StandInContext): StandIn {
  const name = 'horizontal-pod-autoscaler';
  const queue = createWorkQueue({ clock, random, log, name });
  const autoscalers = caches.of(resources.horizontalPodAutoscalers);
  const pods = caches.of(resources.pods);
  const scalable: ReadonlyMap<string, ResourceType> = new Map(
    [resources.deployments, resources.replicaSets, resources.statefulSets].map((type) => [type.kind, type]),
  );
  const caching = {
    Deployment: caches.of(resources.deployments),
    ReplicaSet: caches.of(resources.replicaSets),
    StatefulSet: caches.of(resources.statefulSets),
  };
  const histories = new Map<string, ScalingHistory>();

  autoscalers.onChange((before, after) => {
    if (after === undefined) histories.delete(keyOf(before ?? {}));
    else if (before === undefined || !isSameValue(before.spec, after.spec)) queue.add(keyOf(after));
  });

  const targetOf = (autoscaler: HorizontalPodAutoscaler) => {
    const { kind = '', name: target = '' } = autoscaler.spec?.scaleTargetRef ?? {};
    const cache = kind === 'Deployment' || kind === 'ReplicaSet' || kind === 'StatefulSet' ? caching[kind] : undefined;
    return cache?.get(`${namespaceOf(autoscaler)}/${target}`);
  };

  const write = async (autoscaler: HorizontalPodAutoscaler, status: AutoscalerStatus): Promise<void> => {
    if (isSameStatus(status, autoscaler.status)) return;
    await replaceStatus(api, resources.horizontalPodAutoscalers, { ...autoscaler, status });
  };

  const sync = async (key: string): Promise<HandlerResult> => {
    const autoscaler = autoscalers.get(key);
    if (autoscaler === undefined) return undefined;
    const again = { requeueAfterMillis: SYNC_MILLIS };
    const { spec, status } = autoscaler;
    const now = clock.now();
    const base = { desiredReplicas: 0, ...status };
    const target = targetOf(autoscaler);
    const type = scalable.get(spec?.scaleTargetRef.kind ?? '');
    if (spec === undefined || target === undefined || type === undefined) {
      const { kind = '', name: missing = '' } = spec?.scaleTargetRef ?? {};
      const resource = type === undefined ? kind : `${type.plural}.${type.group}`;
      await write(autoscaler, {
        ...base,
        conditions: withSaid(status, [noScale(`${resource} "${missing}" not found`)], now),
      });
      return again;
    }
    const current = target.spec?.replicas ?? 1;
    const reported = { currentReplicas: target.status?.replicas ?? 0 };
    if (current === 0) {
      const conditions = withSaid(status, [hasScale, isDisabled], now);
      await write(autoscaler, { ...base, ...reported, desiredReplicas: 0, conditions });
      return again;
    }
    const { selector } = target.spec ?? {};
    const own = [...pods.inNamespace(namespaceOf(autoscaler))].filter(
      (pod: Pod) => isActivePod(pod) && matchesSelector(selector, pod.metadata?.labels),
    );
    const metrics = await readPodMetrics(api, namespaceOf(autoscaler));
    const proposals = (spec.metrics ?? []).map((metric) => proposeMetric(metric, { pods: own, metrics, current, now }));
    const good = proposals.flatMap((proposal) => (proposal.ok ? [proposal] : []));
    const bad = proposals.flatMap((proposal) => (proposal.ok ? [] : [proposal]));
    const best = good.reduce<(typeof good)[number] | undefined>(
      (most, each) => (most === undefined || each.replicas > most.replicas ? each : most),
      undefined,
    );
    // A metric that is missing might ask for more: without it nothing is made smaller.
    if (best === undefined || (bad.length > 0 && best.replicas < current)) {
      const conditions = withSaid(status, [hasScale, isInactive(bad[0]?.why ?? 'no metrics')], now);
      await write(autoscaler, { ...base, ...reported, conditions });
      return again;
    }
    const history = histories.get(key) ?? { recommendations: [{ at: now, replicas: current }], changes: [] };
    histories.set(key, history);
    const result = applyScalingRules(
      {
        current,
        wanted: best.replicas,
        least: spec.minReplicas ?? 1,
        most: spec.maxReplicas,
        behavior: spec.behavior,
        now,
      },
      history,
    );
    const isRescaled = result.replicas !== current;
    if (isRescaled) {
      const body = { spec: { replicas: result.replicas } };
      const options = { namespace: namespaceOf(autoscaler), subresource: 'scale' };
      await api.patch(type, spec.scaleTargetRef.name, { type: 'merge', body }, options);
      history.changes = [...history.changes.slice(-100), { at: now, by: result.replicas - current }];
    }
    const said: Said[] = [ableToScale(result, isRescaled), isActive(best.metric), limitedBy(result), notZero];
    const currentMetrics = good.map(({ shown }): MetricStatus => shown);
    await write(autoscaler, {
      ...base,
      ...reported,
      ...(autoscaler.metadata?.generation === undefined ? {} : { observedGeneration: autoscaler.metadata.generation }),
      ...(isRescaled ? { lastScaleTime: timestampOf(now) } : {}),
      desiredReplicas: result.replicas,
      currentMetrics,
      conditions: withSaid(status, said, now),
    });
    return again;
  };

  return { name, run: (signal) => queue.run(WORKERS, sync, signal) };
}

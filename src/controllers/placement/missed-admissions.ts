/**
 * Notices pods of managed workloads that were created without passing the webhook: it was down, or is not registered.
 */
import type { Events } from '../../act/events.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { renderReason } from '../../lib/reasons.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { isLive, resolveOwner } from '../../model/owners.ts';
import type { PodRecord, WorkloadRecord } from '../../model/records.ts';
import type { LiveView } from '../../observe/live-view.ts';
import type { PlacementRules } from './rules.ts';

export interface MissedAdmissionsOptions {
  readonly view: LiveView;
  readonly rules: () => PlacementRules;
  /** New pods are meant to pass this operator's webhook. */
  readonly steersNewPods: () => boolean;
  readonly events: Pick<Events, 'onWorkload'>;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/**
 * Pods of one outage are told in one event. Long enough for owners to be in the view as well: an unresolved pod is left
 * out.
 */
const COLLECT_MILLIS = 5_000;

/** Watches from now on; pods created before are none of its business. Returns the function that ends it. */
export function watchMissedAdmissions(options: MissedAdmissionsOptions): () => void {
  const { view, rules, steersNewPods, events, metrics, clock } = options;
  // Creation times have whole seconds.
  const since = Math.floor(clock.now() / 1000) * 1000;
  let unstamped: PodRecord[] = [];
  let timer: Timer | undefined;

  /** The workload that the pod was to be steered for; undefined where nobody meant to steer it. */
  const workloadOf = (pod: PodRecord): WorkloadRecord | undefined => {
    if (!steersNewPods()) return undefined;
    const { settings, sides, readPolicy } = rules();
    // What is left unsteered on purpose was not missed.
    if (settings.readOnly || settings.enabled === false || sides.pinnedSide(pod.template) === 'neither')
      return undefined;
    const owner = resolveOwner(view, pod.namespace, pod.owner);
    return owner.kind === 'workload' && readPolicy(view, owner.workload).state === 'managed'
      ? owner.workload
      : undefined;
  };
  const tell = (): void => {
    timer = undefined;
    const counts = new Map<string, { workload: WorkloadRecord; count: number }>();
    for (const pod of unstamped) {
      const workload = workloadOf(pod);
      if (workload === undefined) continue;
      const key = workloadKey(workload);
      counts.set(key, { workload, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    unstamped = [];
    for (const { workload, count } of counts.values()) {
      metrics.inc('spotalis_missed_admissions_total', {}, count);
      const message = renderReason('MissedAdmission', { count });
      events.onWorkload(workload, { reason: 'MissedAdmission', message, lasts: true });
    }
  };
  const unsubscribe = view.onPod((before, after) => {
    if (before !== undefined || after === undefined || after.admissionId !== undefined) return;
    if (after.createdAt < since || !isLive(after) || after.owner === undefined) return;
    unstamped.push(after);
    timer ??= clock.setTimer(COLLECT_MILLIS, tell);
  });
  return () => {
    unsubscribe();
    timer?.cancel();
  };
}

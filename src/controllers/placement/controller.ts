/**
 * The placement loop: which workload is looked at when. Woken by changes, by the exact time something falls due, and by
 * a resync.
 */
import type { Events } from '../../act/events.ts';
import type { ManagedPolicy, PlacementPolicy } from '../../decide/placement/policy.ts';
import type { BackoffPolicy } from '../../lib/backoff.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { Random } from '../../lib/random.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import { workloadKey, workloadOfKey } from '../../model/cluster-view.ts';
import type { PodRecord, WorkloadRecord } from '../../model/records.ts';
import type { LiveView, ViewChange } from '../../observe/live-view.ts';
import { adoptEvictions } from '../adopt-disruptions.ts';
import type { Disruptions } from '../disruptions.ts';
import { createBreather, createEngineQueue, type Look } from '../engine-queue.ts';
import { watchMissedAdmissions } from './missed-admissions.ts';
import type { MoveTracker } from './move-tracker.ts';
import type { PlanGauges } from './plan-gauges.ts';
import type { PlacementReconciler, ReconcileResult } from './reconciler.ts';
import type { PlacementRules } from './rules.ts';

export interface PlacementControllerOptions {
  readonly view: LiveView;
  readonly rules: () => PlacementRules;
  /** New pods are meant to pass this operator's webhook. */
  readonly steersNewPods: () => boolean;
  readonly reconciler: PlacementReconciler;
  readonly moves: Pick<MoveTracker, 'adopt'>;
  readonly disruptions: Pick<Disruptions, 'history' | 'inFlight' | 'adoptReplacements' | 'turns'>;
  readonly events: Pick<Events, 'onWorkload'>;
  readonly metrics: Metrics;
  readonly gauges: PlanGauges;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Workloads looked at in parallel; one at a time each. At least 1. */
  readonly workers: number;
  /** Every workload is looked at this often even when nothing changes. */
  readonly reconcileIntervalMillis: () => Millis;
  /**
   * The same outside a disruption window, where that is longer. The opening itself is a timer, so this only catches
   * what a watch has missed.
   */
  readonly windowPollMillis: () => Millis;
}

export interface PlacementController {
  /** Runs until `signal` aborts; then takes no more work, waits for what is running and resolves. May be run again. */
  run(signal: AbortSignal): Promise<void>;
  /** Looks at every workload soon: the configuration changed. */
  wakeAll(): void;
}

/**
 * Changes come in bursts: a workload is looked at once for all that happens within this time. A tenth of the second
 * that may pass between an event and its decision (DESIGN 7).
 */
const COALESCE_MILLIS = 100;
/** Freed capacity concerns all workloads that want to move; nodes report often. */
const CAPACITY_MILLIS = 1_000;
const retryPolicy: BackoffPolicy = { initialMillis: 1_000, factor: 2, maxMillis: 300_000, jitter: 0.2 };

export function createPlacementController(options: PlacementControllerOptions): PlacementController {
  const { view, rules, reconciler, events, metrics, clock, random, log } = options;
  const { inFlight, turns, history } = options.disruptions;
  /** Keys of managed workloads. */
  const managed = new Set<string>();
  /** Keys of workloads with pods on the wrong side: those that freed capacity on nodes may concern. */
  const drifting = new Set<string>();
  const queue = createEngineQueue<'workload'>({ ...options, name: 'placement', retryPolicy });
  const wake = (key: string, delayMillis?: Millis, priority?: number): void =>
    queue.wake('workload', key, delayMillis, priority);
  const breathe = createBreather(clock);

  /** What was done so far stays known: a label taken away and put back must not skip the cooldown. */
  const stopManaging = (key: string): void => {
    managed.delete(key);
    drifting.delete(key);
    metrics.removeWorkload(workloadOfKey(key), 'placement');
    options.gauges.forget(key);
  };

  /** Tells the owner when management begins and ends. An invalid setting does neither. */
  const noteManagement = (
    key: string,
    workload: WorkloadRecord,
    policy: ManagedPolicy | undefined,
    isFirst: boolean,
  ): void => {
    const was = managed.has(key);
    if (policy !== undefined) {
      managed.add(key);
      // At start every managed workload is new to us, but not to its owner.
      if (was || isFirst) return;
      const { spotPercentage, minOnDemand } = policy.rule;
      const floor = minOnDemand.kind === 'count' ? String(minOnDemand.count) : `${minOnDemand.percent}%`;
      const message = renderReason('ManagementStarted', { spotPercentage, minOnDemand: floor });
      events.onWorkload(workload, { reason: 'ManagementStarted', message });
    } else if (was) {
      stopManaging(key);
      events.onWorkload(workload, { reason: 'ManagementStopped', message: renderReason('ManagementStopped', {}) });
    } else if (options.gauges.forget(key)) {
      // Told of, but never well: its setting was not valid, or no look at it came to its end.
      stopManaging(key);
    }
  };

  /** Uids of workloads looked at since this process began: the first look at one is no news to its owner. */
  const seen = new Set<string>();
  const forget = (key: string, uid: string): void => {
    seen.delete(uid);
    stopManaging(key);
    reconciler.forget(key, uid);
  };
  const look: Look = async (key, signal) => {
    await breathe();
    const workload = view.workload(workloadOfKey(key));
    if (workload === undefined) return undefined;
    const isGone = (): boolean => view.workload(workloadOfKey(key))?.uid !== workload.uid;
    try {
      const isFirst = !seen.has(workload.uid);
      seen.add(workload.uid);
      const startedAt = clock.now();
      const result = await reconciler.reconcile(workload, signal);
      const type = workload.kind.toLowerCase();
      metrics.observe('spotalis_reconcile_duration_seconds', { workload_type: type }, (clock.now() - startedAt) / 1000);
      return isGone() ? undefined : conclude(key, workload, result, isFirst);
    } finally {
      // It went while answers were waited for: nobody else would forget what was noted since.
      if (isGone()) forget(key, workload.uid);
    }
  };
  const conclude = (
    key: string,
    workload: WorkloadRecord,
    { plan: { policy, drift }, againAfterMillis }: ReconcileResult,
    isFirst: boolean,
  ): Millis | undefined => {
    if (policy.state !== 'invalid')
      noteManagement(key, workload, policy.state === 'managed' ? policy : undefined, isFirst);
    if (drift > 0) drifting.add(key);
    else drifting.delete(key);
    if (policy.state === 'unmanaged') return undefined;
    // Spread, so that workloads enabled together are not looked at together for ever.
    const resync = resyncMillis(policy) * (0.9 + 0.2 * random.next());
    return Math.min(resync, againAfterMillis ?? resync);
  };

  /** Nothing may be moved outside a window, and its opening is a timer of its own: there is less to look at. */
  const resyncMillis = (policy: PlacementPolicy): Millis => {
    const interval = options.reconcileIntervalMillis();
    const window = policy.state === 'managed' ? policy.window : undefined;
    const isClosed = window !== undefined && !window.isOpen(clock.now());
    return isClosed ? Math.max(interval, options.windowPollMillis()) : interval;
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    let capacityTimer: Timer | undefined;

    const onChange = (change: ViewChange): void => {
      if (change.kind === 'workload') wake(change.key, COALESCE_MILLIS);
      else if (change.kind === 'workload-deleted') {
        forget(change.key, change.uid);
      } else {
        capacityTimer ??= clock.setTimer(CAPACITY_MILLIS, () => {
          capacityTimer = undefined;
          // Who waits for a turn found room already, and is woken when the turn comes.
          for (const key of drifting) if (!turns.isWaiting('placement', key)) wake(key);
        });
      }
    };
    const onPod = (before: PodRecord | undefined, after: PodRecord | undefined): void => {
      if (before !== undefined && before.uid !== after?.uid) inFlight.remove(before.uid);
      if (before !== undefined || after?.admissionId === undefined) return;
      if (history.steering.recordSteered(after)) for (const key of drifting) wake(key);
    };
    history.steering.forgetAll();
    const unsubscribe = [
      view.onChange(onChange),
      view.onPod(onPod),
      // Ahead of what is merely looked at.
      turns.onTurn('placement', (key) => wake(key, 0, 1)),
      watchMissedAdmissions(options),
    ];
    // After subscribing: a pod that ends in between would hold its place until it runs out.
    const adopted = adoptEvictions(view, rules(), options.disruptions, clock.now());
    for (const workload of view.workloads())
      if (rules().readPolicy(view, workload).state === 'managed') options.moves.adopt(view, workload, clock.now());
    if (adopted > 0) log.info({ adopted }, 'Evictions under way were taken over');
    try {
      const work = queue.run({ workload: look }, signal);
      wakeAll();
      await work;
    } finally {
      for (const end of unsubscribe) end();
      capacityTimer?.cancel();
    }
  };

  const wakeAll = (): void => {
    for (const workload of view.workloads()) wake(workloadKey(workload));
  };

  return { run, wakeAll };
}

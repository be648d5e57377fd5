/**
 * What wakes rightsizing between its passes: workloads, pods and bounds that change, policies that come and go, usage
 * that is known.
 */
import type { Timer } from '../../lib/clock.ts';
import type { Millis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey, workloadOfKey } from '../../model/cluster-view.ts';
import { policyKey } from '../../model/optimization-policy.ts';
import type { EngineQueue } from '../engine-queue.ts';
import type { RightsizingParts } from './parts.ts';
import type { SelectPolicy } from './policy-selector.ts';

/** A policy's pass, one workload, or the status of a policy. */
export type RightsizingQueue = EngineQueue<'policy' | 'workload' | 'status'>;

export interface WakeOptions
  extends Pick<
    RightsizingParts,
    'view' | 'policies' | 'usage' | 'books' | 'memory' | 'handBack' | 'events' | 'metrics' | 'clock'
  > {
  readonly select: SelectPolicy;
}

/**
 * Changes come in bursts: a workload is looked at once for all that happens within this time. A new workload is to be
 * picked up within a second (spec rightsizing, section 5).
 */
export const COALESCE_MILLIS: Millis = 200;
/**
 * What a quota has left changes with each pod of its namespace, and concerns all workloads there: of a thousand they are
 * looked at every ten seconds for it, and not all the time.
 */
const BOUNDS_MILLIS_PER_WORKLOAD: Millis = 10;
/** A kill this recent is not yet in what was advised. */
const RECENT_KILL_MILLIS: Millis = 60_000;

/** @returns how to end it. What Stowage itself writes into a status wakes nobody. */
export function wakeOnChanges(options: WakeOptions, wake: RightsizingQueue['wake']): () => void {
  const { view, policies, usage, select, books, memory, handBack, events, metrics, clock } = options;
  let selectionTimer: Timer | undefined;

  /** Which policy has the say may have changed for any workload: policies look again, and orphans are handed back. */
  const selectionChanged = (): void => {
    selectionTimer = undefined;
    for (const policy of policies.policies()) wake('policy', policyKey(policy));
    for (const workload of view.workloads()) {
      if (handBack.isNeeded(workload)) wake('workload', workloadKey(workload));
    }
  };

  /** A workload without advice is looked at when usage comes, and one that was killed when that is known. */
  const needsLook = (ref: WorkloadRef): boolean => {
    const workload = view.workload(ref);
    if (workload === undefined) return false;
    const uid = select(workload).winner?.uid;
    const result = uid === undefined ? undefined : books.of(uid).results.get(workloadKey(ref));
    if (result === undefined || !result.hasUsage) return true;
    if ((result.metricsProblem === undefined) !== (usage.stateOf(ref).problem === undefined)) return true;
    const since = clock.now() - RECENT_KILL_MILLIS;
    return workload.containers.some(({ name }) => (usage.profileOf(ref, name)?.memory.oom()?.at ?? 0) >= since);
  };

  /** A workload is gone for good; what was remembered of it would be taken for another of the same name. */
  const forget = (key: string, uid: string): void => {
    memory.forget(uid, key);
    events.forget(uid);
    metrics.removeWorkload(workloadOfKey(key));
    for (const policy of policies.policies()) {
      if (books.of(policy.uid).results.delete(key)) wake('policy', policyKey(policy), COALESCE_MILLIS);
    }
  };

  const ends = [
    view.onChange((change) => {
      if (change.kind === 'workload') wake('workload', change.key, COALESCE_MILLIS);
      else if (change.kind === 'workload-deleted') forget(change.key, change.uid);
      else {
        const workloads = view.workloadsIn(change.namespace);
        const gathering = Math.max(COALESCE_MILLIS, BOUNDS_MILLIS_PER_WORKLOAD * workloads.length);
        for (const workload of workloads) wake('workload', workloadKey(workload), gathering);
      }
    }),
    policies.onChange(({ kind, policy }) => {
      if (kind === 'status') return;
      if (kind === 'gone') {
        books.forget(policy.uid);
        events.forget(policy.uid);
        // Series name policies without their namespaces, as OptiPod's do.
        if (policies.policies().every(({ name }) => name !== policy.name)) metrics.removePolicy(policy.name);
      }
      // At start every policy is told of, one by one.
      selectionTimer ??= clock.setTimer(COALESCE_MILLIS, selectionChanged);
    }),
    usage.onChange((ref) => {
      if (needsLook(ref)) wake('workload', workloadKey(ref), COALESCE_MILLIS);
    }),
  ];
  return () => {
    for (const end of ends) end();
    selectionTimer?.cancel();
  };
}

/**
 * The rightsizing loop: policies are worked through at their own pace; a workload that changes in between is looked at
 * alone, within a second. What Stowage itself writes into a status wakes nobody.
 */
import type { PolicySelection } from '../../decide/rightsizing/select-policy.ts';
import type { BackoffPolicy } from '../../lib/backoff.ts';
import type { Millis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import { type PolicyRecord, policyKey } from '../../model/optimization-policy.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import { createEngineQueue, type Look } from '../engine-queue.ts';
import { createCannotRead } from './cannot-read.ts';
import { createLookAtPolicy } from './look-at-policy.ts';
import { createWorkloadLooks, type WorkloadLooksOptions } from './look-at-workload.ts';
import type { RightsizingParts } from './parts.ts';
import { createPolicySelector } from './policy-selector.ts';
import { COALESCE_MILLIS, type RightsizingQueue, wakeOnChanges } from './reconcile-triggers.ts';

export interface RightsizingControllerOptions
  extends Pick<WorkloadLooksOptions, 'reconciler'>,
    Pick<RightsizingParts, 'view' | 'policies' | 'usage' | 'books' | 'memory' | 'handBack' | 'settings' | 'workers'>,
    Pick<RightsizingParts, 'events' | 'metrics' | 'clock' | 'random' | 'log'> {}

/** Keys in the queue are of policies, of workloads and of statuses; each is worked on once at a time. */
export interface RightsizingController {
  /** Runs until `signal` aborts; then takes no more work, waits for what is running and resolves. May be run again. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Looks at every policy soon, and at what no policy has the say over any more: the configuration changed, and with it
   * perhaps whose policies select where, or whether anything may be written.
   */
  wakeAll(): void;
  /** Looks at one workload soon. */
  wakeWorkload(ref: WorkloadRef): void;
  /** Looks at one workload now, ahead of others: it may take a place of the budget. @param key see `workloadKey`. */
  wakeForTurn(key: string): void;
  /**
   * Tells every policy what of the cluster cannot be read. For whoever waits for that before {@link run}; harmless
   * where all is known. Rejects only with the signal's reason.
   */
  tellUnread(signal: AbortSignal): Promise<void>;
  /** Which policy has the say over the workload, and which others match. Cheap. */
  select(workload: SizedWorkload): PolicySelection;
}

/** How soon a policy is looked at again while some watch is broken. */
const STALE_MILLIS: Millis = 15_000;
const retryPolicy: BackoffPolicy = { initialMillis: 1_000, factor: 2, maxMillis: 300_000, jitter: 0.2 };

export function createRightsizingController(options: RightsizingControllerOptions): RightsizingController {
  const { view, policies, books, handBack, metrics } = options;
  const queue: RightsizingQueue = createEngineQueue({ ...options, name: 'rightsizing', retryPolicy });
  const { wake } = queue;
  const select = createPolicySelector(options);
  const cannotRead = createCannotRead(options);
  const workloads = createWorkloadLooks({ ...options, select, wake });
  const passOver = createLookAtPolicy({ ...options, select, wake, workloads });
  const findPolicy = (key: string): PolicyRecord | undefined =>
    policies.policies().find((policy) => policyKey(policy) === key);

  const lookAtPolicy: Look = async (key, signal) => {
    const policy = findPolicy(key);
    if (policy === undefined || policy.deleting) return undefined;
    // What is known may be out of date: nothing is decided on it.
    if (view.freshness().stale.length > 0) {
      await cannotRead.tell(policy, signal);
      return STALE_MILLIS;
    }
    cannotRead.isOver();
    return passOver(policy, signal);
  };

  const writeStatus: Look = async (key, signal) => {
    const policy = findPolicy(key);
    if (policy !== undefined && !policy.deleting) await books.write(policy, signal);
    return undefined;
  };

  /** Which policies there are now is not known while a watch is broken: nothing is done on their account. */
  const whenFresh =
    (look: Look): Look =>
    async (key, signal) =>
      policies.isFresh() && view.freshness().synced ? await look(key, signal) : retryPolicy.initialMillis;

  const looks: Parameters<RightsizingQueue['run']>[0] = {
    workload: whenFresh(workloads.onChange),
    async policy(key, signal) {
      if (!policies.isFresh()) {
        const policy = findPolicy(key)?.name ?? '';
        metrics.inc('optipod_reconciliation_errors_total', { policy, error_type: 'fetch_error' });
      }
      return await whenFresh(lookAtPolicy)(key, signal);
    },
    status: whenFresh(writeStatus),
  };

  const wakeAll = (): void => {
    for (const policy of policies.policies()) wake('policy', policyKey(policy));
    // Policies may have gone while nobody led, or while nothing was to be written.
    for (const workload of view.workloads()) {
      if (handBack.isNeeded(workload) && select(workload).winner === undefined) wake('workload', workloadKey(workload));
    }
  };

  return {
    select,
    wakeAll,
    tellUnread: (signal) => cannotRead.tellAll(policies.policies(), signal),
    wakeWorkload: (ref) => wake('workload', workloadKey(ref), COALESCE_MILLIS),
    wakeForTurn: (key) => wake('workload', key, 0, 1),
    async run(signal) {
      // A policy that is not known yet could be the one that has the say over a workload.
      await policies.onSynced;
      const end = wakeOnChanges({ ...options, select }, wake);
      try {
        const work = queue.run(looks, signal);
        wakeAll();
        await work;
      } finally {
        end();
      }
    },
  };
}

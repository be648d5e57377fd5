/**
 * The rightsizing loop: policies are worked through at their own pace; a workload that changes in between is looked at
 * alone, within a second. What Stowage itself writes into a status wakes nobody.
 */
import type { Events } from '../../act/events.ts';
import { type LargestNode, largestNode } from '../../decide/rightsizing/largest-node.ts';
import { requeueAfter } from '../../decide/rightsizing/requeue.ts';
import { createPolicyIndex, type PolicyIndex, type PolicySelection } from '../../decide/rightsizing/select-policy.ts';
import { gatherMillis } from '../../decide/rightsizing/worth-writing.ts';
import type { BackoffPolicy } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { createOneAtATime } from '../../lib/one-at-a-time.ts';
import type { Random } from '../../lib/random.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey, workloadOfKey } from '../../model/cluster-view.ts';
import { isValidPolicy, type PolicyRecord, policyKey, type ValidPolicy } from '../../model/optimization-policy.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { PolicyStores } from '../../observe/policy-stores.ts';
import type { LiveSizingView } from '../../observe/sizing/live-sizing-view.ts';
import type { UsageCollector } from '../../observe/usage/collector-port.ts';
import { createBreather, createEngineQueue, type Look } from '../engine-queue.ts';
import { createCannotRead } from './cannot-read.ts';
import { discover } from './discover.ts';
import type { HandBack } from './hand-back.ts';
import type { RightsizingMemory } from './memory.ts';
import type { PolicyBooks } from './policies.ts';
import { brokenResult, type WorkloadResult } from './result.ts';
import type { RightsizingSettings } from './settings.ts';
import { COALESCE_MILLIS, type RightsizingQueue, wakeOnChanges } from './wake.ts';
import type { WorkloadReconciler } from './workload.ts';

export interface RightsizingControllerOptions {
  readonly view: LiveSizingView;
  readonly policies: PolicyStores;
  readonly usage: UsageCollector;
  readonly reconciler: WorkloadReconciler;
  readonly books: PolicyBooks;
  readonly memory: RightsizingMemory;
  readonly handBack: HandBack;
  readonly settings: () => RightsizingSettings;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Policies and workloads worked on at the same time. */
  readonly workers: number;
}

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
  /** Which policy has the say over the workload, and which others match. Cheap: the policies are indexed once. */
  select(workload: SizedWorkload): PolicySelection;
}

/** How soon a policy is looked at again while some watch is broken. */
const STALE_MILLIS: Millis = 15_000;
const retryPolicy: BackoffPolicy = { initialMillis: 1_000, factor: 2, maxMillis: 300_000, jitter: 0.2 };

export function createRightsizingController(options: RightsizingControllerOptions): RightsizingController {
  const { view, policies, reconciler, books, handBack, settings, events, metrics, clock, random, log } = options;
  const queue: RightsizingQueue = createEngineQueue({ ...options, name: 'rightsizing', retryPolicy });
  const { wake } = queue;
  let index: { readonly of: readonly PolicyRecord[]; readonly index: PolicyIndex } | undefined;
  const breathe = createBreather(clock);
  // A policy's pass and a change of a workload come to it in one moment, and would both give a first pod less.
  const alone = createOneAtATime();
  const cannotRead = createCannotRead(options);

  /** Made anew when a policy changes: the stores hand out the same array until then. */
  const policyIndex = (): PolicyIndex => {
    const known = policies.policies();
    if (index?.of !== known) index = { of: known, index: createPolicyIndex(known, settings().tenancy) };
    return index.index;
  };
  const select = (workload: SizedWorkload): PolicySelection =>
    policyIndex().select(workload, view.namespace(workload.namespace));

  /** One workload of a policy; an error is its own and stops no other (optipod defect B9a was one that stopped all). */
  const work = async (
    workload: SizedWorkload,
    policy: ValidPolicy,
    largest: LargestNode,
    signal: AbortSignal,
  ): Promise<void> => {
    const { results } = books.of(policy.uid);
    const key = workloadKey(workload);
    try {
      const result = await reconciler.reconcile(workload, policy, largest, signal);
      results.set(key, result);
      const again = result.againAfterMillis;
      if (again !== undefined) wake('workload', key, Math.max(COALESCE_MILLIS, again));
      if (result.failure !== undefined) noteFailure(policy, workload, result.failure);
      noteUnreadUsage(policy, workload, result);
    } catch (error) {
      if (signal.aborted) throw error;
      log.error({ workload: key, policy: policy.name, error }, 'A workload could not be worked on');
      const cause = describeError(error);
      results.set(key, brokenResult(workload, cause, results.get(key)));
      noteFailure(policy, workload, cause);
    }
  };

  const countError = (policy: string, errorType: 'fetch_error' | 'processing_error' | 'validation_error'): void =>
    metrics.inc('optipod_reconciliation_errors_total', { policy, error_type: errorType });

  /** An event on the policy, once for each workload and cause. */
  const noteFailure = (policy: ValidPolicy, workload: SizedWorkload, cause: string): void => {
    countError(policy.name, 'processing_error');
    const message = renderReason('ProcessingFailed', { ...workload, cause });
    events.onPolicy(policy, { reason: 'ProcessingFailed', message, lasts: true, about: workloadKey(workload) });
  };

  /**
   * A source that fails while usage is remembered: one event on the policy, for all its workloads fare alike. Those of
   * which nothing is known are skipped with an event of their own.
   */
  const noteUnreadUsage = (policy: ValidPolicy, workload: SizedWorkload, result: WorkloadResult): void => {
    if (result.metricsProblem === undefined || !result.hasUsage) return;
    const message = renderReason('MetricsCollectionFailed', { ...workload, cause: result.metricsProblem });
    events.onPolicy(policy, { reason: 'MetricsCollectionFailed', message, lasts: true });
  };

  /**
   * Every workload the policy is about, one after the other; then its status.
   * @returns when the next pass is due.
   */
  const passOver = async (policy: ValidPolicy, signal: AbortSignal): Promise<Millis> => {
    const startedAt = clock.now();
    const book = books.of(policy.uid);
    const { discovered, owned, tie } = discover(policy, view.workloads(), select);
    book.discovered = discovered;
    book.owned = owned.size;
    book.tie = tie;
    for (const key of book.results.keys()) {
      if (owned.has(key)) continue;
      book.results.delete(key);
      // Another policy's by now, or nobody's: then what is ours on it is given back.
      wake('workload', key);
    }
    if (policy.spec.mode === 'Disabled') book.results.clear();
    const largest = largestNode(view);
    for (const key of owned) {
      await alone(key, async () => {
        await breathe();
        signal.throwIfAborted();
        // A pass over many takes minutes: what changed meanwhile, the policy as well, counts as it is now.
        const workload = view.workload(workloadOfKey(key));
        const winner = workload?.deleting === false ? select(workload).winner : undefined;
        if (workload === undefined || winner?.uid !== policy.uid || !policies.isFresh(workload.namespace)) return;
        if (winner.spec.mode === 'Disabled') await handBack.giveBack(workload, signal);
        else await work(workload, winner, largest, signal);
      });
    }
    const fallback = options.usage.healthOf(policy)?.fallback;
    if (fallback !== undefined) {
      const { provider, because } = fallback;
      const message = renderReason('UsageFromFallback', { provider, cause: because.message });
      events.onPolicy(policy, { reason: 'UsageFromFallback', message, lasts: true });
    }
    await books.write(policy, signal);
    const { name, spec } = policy;
    metrics.observe('optipod_reconciliation_duration_seconds', { policy: name }, (clock.now() - startedAt) / 1000);
    const counts = {
      discovered: Object.values(discovered).reduce((sum, each) => sum + each, 0),
      processed: [...book.results.values()].filter(({ failure }) => failure === undefined).length,
    };
    return requeueAfter(spec.mode, Math.max(settings().minIntervalMillis, spec.intervalMillis), counts, random);
  };

  const lookAtPolicy: Look = async (key, signal) => {
    const policy = findPolicy(key);
    if (policy === undefined || policy.deleting) return undefined;
    // What is known may be out of date: nothing is decided on it.
    if (view.freshness().stale.length > 0) {
      await cannotRead.tell(policy, signal);
      return STALE_MILLIS;
    }
    cannotRead.isOver();
    if (isValidPolicy(policy)) return passOver(policy, signal);
    books.of(policy.uid).results.clear();
    countError(policy.name, 'validation_error');
    const cause = policy.problems.join('; ');
    const message = renderReason('ValidationFailed', { namespace: policy.namespace, name: policy.name, cause });
    events.onPolicy(policy, { reason: 'ValidationFailed', message, lasts: true, about: String(policy.generation) });
    await books.write(policy, signal);
    return undefined;
  };

  /** One workload that changed between passes. It may have become another policy's, or nobody's. */
  const lookAtWorkload: Look = async (key, signal) => {
    await breathe();
    const workload = view.workload(workloadOfKey(key));
    if (workload === undefined || workload.deleting || !policies.isFresh(workload.namespace)) return undefined;
    const { winner } = select(workload);
    for (const policy of policies.policies())
      if (policy.uid !== winner?.uid && books.of(policy.uid).results.delete(key)) wakeStatus(policy);
    if (winner === undefined || winner.spec.mode === 'Disabled') {
      await handBack.giveBack(workload, signal);
      return undefined;
    }
    const isNew = !books.of(winner.uid).results.has(key);
    await work(workload, winner, largestNode(view), signal);
    // The counts of a policy are those of a pass.
    if (isNew) wake('policy', policyKey(winner));
    else wakeStatus(winner);
    return undefined;
  };

  const wakeStatus = (policy: PolicyRecord): void =>
    wake('status', policyKey(policy), gatherMillis(books.of(policy.uid).results.size));
  const findPolicy = (key: string): PolicyRecord | undefined =>
    policies.policies().find((policy) => policyKey(policy) === key);

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
    workload: whenFresh((key, signal) => alone(key, () => lookAtWorkload(key, signal))),
    async policy(key, signal) {
      if (!policies.isFresh()) countError(findPolicy(key)?.name ?? '', 'fetch_error');
      return await whenFresh(lookAtPolicy)(key, signal);
    },
    status: whenFresh(writeStatus),
  };

  const wakeAll = (): void => {
    index = undefined;
    for (const policy of policies.policies()) wake('policy', policyKey(policy));
    // Policies may have gone while nobody led, or while nothing was to be written.
    for (const workload of view.workloads()) {
      if (handBack.isNeeded(workload) && select(workload).winner === undefined) wake('workload', workloadKey(workload));
    }
  };

  const tellUnread = async (signal: AbortSignal): Promise<void> => {
    for (const policy of policies.policies()) {
      await cannotRead.tell(policy, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        log.warn({ policy: policyKey(policy), error }, 'A policy could not be told what cannot be read');
      });
    }
  };

  return {
    select,
    wakeAll,
    tellUnread,
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

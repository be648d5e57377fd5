/**
 * Looks at one workload as it is by then, in a pass over its policy or because it changed, and keeps what that came to in
 * the policy's book.
 */
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { type LargestNode, largestNode } from '../../decide/rightsizing/largest-node.ts';
import { gatherMillis } from '../../decide/rightsizing/worth-writing.ts';
import { describeError } from '../../lib/errors.ts';
import { createOneAtATime } from '../../lib/one-at-a-time.ts';
import { renderReason } from '../../lib/reasons.ts';
import { workloadKey, workloadOfKey } from '../../model/cluster-view.ts';
import { isValidPolicy, type PolicyRecord, policyKey, type ValidPolicy } from '../../model/optimization-policy.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import { createBreather, type Look } from '../engine-queue.ts';
import type { RightsizingParts } from './parts.ts';
import type { SelectPolicy } from './policy-selector.ts';
import { COALESCE_MILLIS, type RightsizingQueue } from './reconcile-triggers.ts';
import { brokenResult } from './result.ts';
import type { WorkloadReconciler } from './workload.ts';

export interface WorkloadLooksOptions
  extends Pick<RightsizingParts, 'view' | 'policies' | 'books' | 'handBack' | 'events' | 'metrics' | 'clock' | 'log'> {
  readonly select: SelectPolicy;
  readonly reconciler: WorkloadReconciler;
  readonly wake: RightsizingQueue['wake'];
}

/** Keys are of workloads; each is looked at once at a time. */
export interface WorkloadLooks {
  /** In a pass over the policy, which may have lost it meanwhile. */
  inPass(key: string, policy: ValidPolicy, largest: LargestNode, signal: AbortSignal): Promise<void>;
  /** It changed between passes. It may have become another policy's, or nobody's. */
  onChange: Look;
}

export function createWorkloadLooks(options: WorkloadLooksOptions): WorkloadLooks {
  const { view, policies, select, reconciler, books, handBack, wake, events, metrics, clock, log } = options;
  const breathe = createBreather(clock);
  // A policy's pass and a change of a workload come to it in one moment, and would both give a first pod less.
  const alone = createOneAtATime();

  /** Undefined where it is gone, or where it is not known who has the say. */
  const present = (key: string) => {
    const workload = view.workload(workloadOfKey(key));
    if (workload === undefined || workload.deleting || !policies.isFresh(workload.namespace)) return undefined;
    return { workload, winner: select(workload).winner };
  };

  /**
   * The policy that it was sized by is there and not valid any more, by a slip of somebody's or a bound of the
   * organisation's. Nothing is done in its name; but given back, new pods would be as the template says for good, and
   * those that run be brought in line with that once it is mended.
   */
  const isOfBroken = ({ annotations }: SizedWorkload): boolean => {
    const name = annotations[rightsizingKeys.policy];
    return policies.policies().some((policy) => policy.name === name && !policy.deleting && !isValidPolicy(policy));
  };

  const noteFailure = (policy: ValidPolicy, workload: SizedWorkload, cause: string): void => {
    metrics.inc('optipod_reconciliation_errors_total', { policy: policy.name, error_type: 'processing_error' });
    const message = renderReason('ProcessingFailed', { ...workload, cause });
    events.onPolicy(policy, { reason: 'ProcessingFailed', message, lasts: true, about: workloadKey(workload) });
  };

  /** An error is the workload's own and stops no other (optipod defect B9a was one that stopped all). */
  const reconcile = async (
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
      const { failure, againAfterMillis, metricsProblem } = result;
      if (againAfterMillis !== undefined) wake('workload', key, Math.max(COALESCE_MILLIS, againAfterMillis));
      if (failure !== undefined) noteFailure(policy, workload, failure);
      // All workloads of the policy fare alike. Those of which nothing is known are skipped with an event of their own.
      if (metricsProblem !== undefined && result.hasUsage) {
        const message = renderReason('MetricsCollectionFailed', { ...workload, cause: metricsProblem });
        events.onPolicy(policy, { reason: 'MetricsCollectionFailed', message, lasts: true });
      }
    } catch (error) {
      if (signal.aborted) throw error;
      log.error({ workload: key, policy: policy.name, error }, 'A workload could not be worked on');
      const cause = describeError(error);
      results.set(key, brokenResult(workload, cause, results.get(key)));
      noteFailure(policy, workload, cause);
    }
  };

  const wakeStatus = (policy: PolicyRecord): void =>
    wake('status', policyKey(policy), gatherMillis(books.of(policy.uid).results.size));

  return {
    inPass: (key, { uid }, largest, signal) =>
      alone(key, async () => {
        await breathe();
        signal.throwIfAborted();
        // A pass over many takes minutes: what changed meanwhile, the policy as well, counts as it is now.
        const found = present(key);
        if (found?.winner?.uid !== uid) return;
        const { workload, winner } = found;
        if (winner.spec.mode === 'Disabled') await handBack.giveBack(workload, signal);
        else await reconcile(workload, winner, largest, signal);
      }),
    onChange: (key, signal) =>
      alone(key, async () => {
        await breathe();
        const found = present(key);
        if (found === undefined) return undefined;
        const { workload, winner } = found;
        for (const policy of policies.policies())
          if (policy.uid !== winner?.uid && books.of(policy.uid).results.delete(key)) wakeStatus(policy);
        if (winner === undefined || winner.spec.mode === 'Disabled') {
          const isNobodys = winner !== undefined || !isOfBroken(workload);
          return isNobodys ? await handBack.giveBack(workload, signal) : undefined;
        }
        const isNew = !books.of(winner.uid).results.has(key);
        await reconcile(workload, winner, largestNode(view), signal);
        // The counts of a policy are those of a pass.
        if (isNew) wake('policy', policyKey(winner));
        else wakeStatus(winner);
        return undefined;
      }),
  };
}

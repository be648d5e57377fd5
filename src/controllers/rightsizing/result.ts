/**
 * What one look at a workload came to: its entry in the policy's status, and what the policy as a whole makes of it.
 */
import type { ReadAnswer } from '../../act/resize-answers.ts';
import type { PolicyWorkloadStatus } from '../../api/optimization-policy-status.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import type { ReplicaTold } from '../../decide/rightsizing/replica-text.ts';
import type { Saving } from '../../decide/rightsizing/savings.ts';
import type { Block } from '../../guard/context.ts';
import { type ReasonName, renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';

/** Kept until the next look, whether or not it was written. */
export interface WorkloadResult {
  readonly entry: PolicyWorkloadStatus;
  readonly advice: readonly SizedAdvice[];
  readonly saving: Saving;
  /** Of replicas that are sized each for itself; left out where none may be. */
  readonly replicas?: readonly ReplicaTold[];
  /** Every pod has a size of its own: what is advised for all is for none of them. */
  readonly isForNobody?: true;
  readonly hasUsage: boolean;
  /** Why usage could not be read, where it could not be for longer than a new workload takes. */
  readonly metricsProblem: string | undefined;
  /** A request was refused for want of permissions. */
  readonly forbidden: string | undefined;
  /** It could not be worked on. */
  readonly failure: string | undefined;
  /** Look again after this time at the latest, where only time changes something. */
  readonly againAfterMillis: Millis | undefined;
}

/** Of a workload that could not be looked at: what was advised before stays, as far as it is known. */
export function brokenResult(
  { kind, namespace, name }: WorkloadRef,
  cause: string,
  before: WorkloadResult | undefined,
): WorkloadResult {
  const message = renderReason('ProcessingFailed', { kind, namespace, name, cause });
  const { advice = [], saving = { cpuMillis: 0, memoryBytes: 0 }, hasUsage = false, metricsProblem } = before ?? {};
  return {
    entry: { ...before?.entry, kind, namespace, name, status: 'Error', reason: 'ProcessingFailed', message },
    advice,
    saving,
    hasUsage,
    metricsProblem,
    forbidden: undefined,
    failure: cause,
    againAfterMillis: undefined,
  };
}

/** What became of one attempt to act. */
export type AttemptOutcome =
  | { readonly kind: 'asked'; readonly tookFrom: readonly string[] }
  | { readonly kind: 'blocked'; readonly block: Block }
  /** `isUncertain`: it may have been done all the same. */
  | { readonly kind: 'refused'; readonly answer: ReadAnswer & { readonly isUncertain?: boolean } }
  | { readonly kind: 'gone' };

/** How applying went, as the status tells it. */
export interface ApplyResult {
  readonly status: 'Applied' | 'Pending' | 'Skipped' | 'Error';
  readonly reason?: ReasonName | undefined;
  readonly message?: string | undefined;
  readonly advice?: string | undefined;
  readonly isForbidden?: boolean;
  readonly againAfterMillis?: Millis | undefined;
}

/** Time or another change is waited for, and nobody has to do anything. */
export function pending(reason: ReasonName, message: string, againAfterMillis?: Millis): ApplyResult {
  return { status: 'Pending', reason, message, againAfterMillis };
}

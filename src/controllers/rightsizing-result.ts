/** What one look at a workload came to: its entry in the policy's status, and what the policy as a whole makes of it. */
import type { ReadAnswer } from '../act/resize-answers.ts';
import type { PolicyWorkloadStatus } from '../api/optimization-policy-status.ts';
import type { SizedAdvice } from '../decide/rightsizing/recommend-workload.ts';
import type { Saving } from '../decide/rightsizing/savings.ts';
import type { Block } from '../guard/context.ts';
import type { Millis } from '../lib/units.ts';

export interface WorkloadResult {
  readonly entry: PolicyWorkloadStatus;
  readonly advice: readonly SizedAdvice[];
  readonly saving: Saving;
  readonly hasUsage: boolean;
  /** Why usage could not be read, where it could not. */
  readonly metricsProblem: string | undefined;
  /** A request was refused for want of permissions. */
  readonly forbidden: string | undefined;
  /** It could not be worked on. */
  readonly failure: string | undefined;
  /** Look again after this time at the latest, where only time changes something. */
  readonly againAfterMillis: Millis | undefined;
}

/** What became of an attempt. */
export type ActResult =
  | { readonly kind: 'asked'; readonly tookFrom: readonly string[] }
  | { readonly kind: 'blocked'; readonly block: Block }
  | { readonly kind: 'refused'; readonly answer: ReadAnswer }
  | { readonly kind: 'gone' };

/** How applying went. */
export interface ApplyResult {
  readonly status: 'Applied' | 'Pending' | 'Skipped' | 'Error';
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly advice?: string | undefined;
  readonly isForbidden?: boolean;
  readonly againAfterMillis?: Millis | undefined;
}

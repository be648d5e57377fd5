/** Applying sizes to one workload: what both methods are given. */

import type { ValidPolicy } from '../model/optimization-policy.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import type { Advised } from './rightsizing-advise.ts';
import type { Annotations } from './rightsizing-annotate.ts';
import type { WorkloadMemory } from './rightsizing-memory.ts';
import type { ApplyResult } from './rightsizing-result.ts';

export interface ApplyContext {
  readonly advised: Advised;
  readonly policy: ValidPolicy;
  readonly memory: WorkloadMemory;
  /** Pods that run. */
  readonly live: readonly SizedPod[];
  /** Writes annotations on the workload. @returns why it could not. */
  readonly annotate: (wanted: Annotations) => Promise<ApplyResult | undefined>;
  readonly signal: AbortSignal;
}

/** Never rejects for what the API answers. */
export type ApplySizes = (method: 'InPlace' | 'Recreate', context: ApplyContext) => Promise<ApplyResult>;

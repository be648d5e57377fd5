/** What the engine sees of the collector. */
import type { EpochMillis } from '../../lib/units.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { PolicyId } from '../../model/optimization-policy.ts';
import type { UsageProfile } from '../../model/usage-profile.ts';
import type { UsageWindow } from '../../model/usage-window.ts';
import type { ThrottlingAnswer, ThrottlingRequest, UsageProblem } from './usage-source.ts';

/** As two lists side by side: of a thousand workloads with ten pods each, a third of what maps would take. */
export interface PodTimes {
  readonly pods: readonly string[];
  readonly times: readonly EpochMillis[];
}

/** How collecting goes for one workload. */
export interface CollectionState {
  /** The source that last answered; the policy's provider, or the fallback. */
  readonly source: string | undefined;
  readonly lastSuccessAt: EpochMillis | undefined;
  /** Why the latest attempt brought nothing; undefined when it succeeded, also before the first attempt. */
  readonly problem: UsageProblem | undefined;
  /** Containers of the template for which the latest attempts brought nothing of the resource. */
  readonly missing: readonly { readonly container: string; readonly resource: 'cpu' | 'memory' }[];
  /** Of the pods that the latest answer told of: when each was last measured. Undefined after an attempt that failed. */
  readonly measured: PodTimes | undefined;
}

/** Collecting for all workloads of one policy. */
export interface PolicyHealth {
  readonly workloads: number;
  readonly failing: number;
  /** Of one of the failing ones: the condition's reason and message. */
  readonly problem: UsageProblem | undefined;
  /** The provider in use instead of the policy's, and why that cannot be used. */
  readonly fallback: { readonly provider: string; readonly because: UsageProblem } | undefined;
}

/** Answers come from memory, but for {@link throttlingOf}. */
export interface UsageCollector {
  /** Undefined: nothing was ever seen of it. It survives pod replacement, rollouts and re-creation of the workload. */
  profileOf(workload: WorkloadRef, container: string): UsageProfile | undefined;
  /**
   * Exact percentiles of the window itself. Undefined where the policy does not ask for it, or nothing was read yet.
   */
  windowOf(workload: WorkloadRef, container: string): UsageWindow | undefined;
  stateOf(workload: WorkloadRef): CollectionState;
  /** Undefined: no workload is collected for the policy. */
  healthOf(policy: PolicyId): PolicyHealth | undefined;
  /**
   * Asks the source at once; a failure where it does not count periods of CPU quota. Rejects only with the signal's
   * reason.
   */
  throttlingOf(request: ThrottlingRequest, signal: AbortSignal): Promise<ThrottlingAnswer>;
  /**
   * Called after the profiles of a workload took something new, or collecting began or ceased to fail. Returns the way
   * to end it.
   */
  onChange(listener: (workload: WorkloadRef) => void): () => void;
  /** Collects until the signal aborts. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

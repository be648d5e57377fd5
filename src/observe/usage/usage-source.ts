/**
 * UsageSource: the port to whatever measures containers. One answer holds CPU and memory of all replicas of one workload.
 * To add a source: a file that makes one, and a line in usage-providers.ts.
 */
import type { Bytes, EpochMillis, Millicores } from '../../lib/units.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';

export interface UsageRequest {
  readonly workload: WorkloadRef;
  /** Names of its pods that exist now; sources that know the past find older ones by themselves. */
  readonly pods: readonly string[];
  readonly containers: readonly string[];
  /** Samples after this instant... */
  readonly from: EpochMillis;
  /** ...up to this one. Sources that only know the present ignore both. */
  readonly to: EpochMillis;
}

export interface UsagePoint<Value> {
  readonly at: EpochMillis;
  readonly value: Value;
}

/** Usage of one container of one pod. Points are in order of time; either list may be empty: partial data is data. */
export interface UsageSeries {
  readonly pod: string;
  readonly container: string;
  /** Millicores, whole. */
  readonly cpu: readonly UsagePoint<Millicores>[];
  /** Bytes, whole. */
  readonly memory: readonly UsagePoint<Bytes>[];
}

export type UsageProblemReason =
  /** The source cannot be used as configured: unknown provider, URL not allowed, Secret missing. */
  | 'Misconfigured'
  /** No connection, or a broken one; TLS not trusted. */
  | 'Unreachable'
  | 'TimedOut'
  /** 401, 403. */
  | 'Unauthorized'
  /** The source refused the question, or answered with an error of its own. */
  | 'Rejected'
  /** The answer could not be read, not even in part. */
  | 'Malformed'
  /** More than the budget allows. */
  | 'TooLarge';

export interface UsageProblem {
  readonly reason: UsageProblemReason;
  /** What, where, and how to mend it. Never holds a secret. */
  readonly message: string;
}

export type UsageAnswer =
  | {
      readonly ok: true;
      readonly series: readonly UsageSeries[];
      /** The window was read up to here: the next request may begin at it. Undefined: the source only knows the present. */
      readonly readTo: EpochMillis | undefined;
      /** What the source said beside its answer, and what could not be read of it. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problem: UsageProblem };

export type SourceHealth = { readonly ok: true } | { readonly ok: false; readonly problem: UsageProblem };

export interface UsageSource {
  readonly name: string;
  /** Whether it can answer for the past (`range`) or only for now (`instant`). */
  readonly kind: 'range' | 'instant';
  /** Rejects only with the signal's reason; every other fault is an answer. */
  fetch(request: UsageRequest, signal: AbortSignal): Promise<UsageAnswer>;
  health(signal: AbortSignal): Promise<SourceHealth>;
}

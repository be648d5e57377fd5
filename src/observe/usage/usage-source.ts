/**
 * UsageSource: the port to whatever measures containers. One answer holds CPU and memory of all replicas of one
 * workload. To add a source: a file that makes one, and a line in usage-providers.ts.
 */
import type { Bytes, EpochMillis, Millicores, Millis } from '../../lib/units.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { ResourceInstants, UsageSeries } from '../../model/usage-series.ts';

/** Clocks differ by seconds: what is told of a time this far ahead of the operator's comes of one that is wrong. */
export const MOST_AHEAD_MILLIS: Millis = 300_000;

/** Beyond any machine: a fault of the source, such as a counter that went below 0. */
export const MOST_MILLICORES: Millicores = 10_000_000;
export const MOST_BYTES: Bytes = 2 ** 50;

/** What one workload's turn asks for. */
export interface UsageRequest {
  readonly workload: WorkloadRef;
  /** Names of its pods that exist now; sources that know the past find older ones by themselves. */
  readonly pods: readonly string[];
  readonly containers: readonly string[];
  /** Samples after these instants. Sources that only know the present ignore this and `to`. */
  readonly from: Required<ResourceInstants>;
  readonly to: EpochMillis;
}

/** What kind of trouble it is. Whichever it is, nothing changes on its account, and what was known stays known. */
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
  /** An answer without any sample, although pods run. */
  | 'NoData'
  /** More than the budget allows. */
  | 'TooLarge';

/** For people: in status, events and logs. */
export interface UsageProblem {
  readonly reason: UsageProblemReason;
  /** What, where, and how to mend it. Never holds a secret. */
  readonly message: string;
}

/** An answer, perhaps a part of one. */
export interface UsageReading {
  readonly ok: true;
  readonly series: readonly UsageSeries[];
  /**
   * Read up to here, where the past can be asked for: the next request begins there. Missing for what was not read, or
   * was empty.
   */
  readonly readTo: ResourceInstants;
  /** What the source said beside its answer, and what could not be read of it. */
  readonly warnings: readonly string[];
}

export interface UsageFailure {
  readonly ok: false;
  readonly problem: UsageProblem;
}

export type UsageAnswer = UsageReading | UsageFailure;
export type SourceHealth = { readonly ok: true } | UsageFailure;

/** One question about the containers of one workload. */
export interface ThrottlingRequest {
  readonly workload: WorkloadRef;
  readonly pods: readonly string[];
  readonly containers: readonly string[];
  /** Over the time of this length that was over so long ago: the source goes by its own clock. */
  readonly agoMillis: Millis;
  readonly windowMillis: Millis;
}

export type ThrottlingAnswer =
  | {
      readonly ok: true;
      /**
       * By container, of the pod where it is highest: the share of the periods of CPU quota in which it was held back,
       * 0..1.
       */
      readonly shares: ReadonlyMap<string, number>;
    }
  | UsageFailure;

/** Shared by all policies that ask alike, so it must keep nothing of a single workload. */
export interface UsageSource {
  readonly name: string;
  /** Whether it can answer for the past (`range`) or only for now (`instant`). */
  readonly kind: 'range' | 'instant';
  /** Rejects only with the signal's reason; every other fault is an answer. */
  fetch(request: UsageRequest, signal: AbortSignal): Promise<UsageAnswer>;
  health(signal: AbortSignal): Promise<SourceHealth>;
  /**
   * Of sources that count periods of CPU quota. Asked only of workloads whose CPU limit was lowered a short while ago.
   */
  readonly throttling?: (request: ThrottlingRequest, signal: AbortSignal) => Promise<ThrottlingAnswer>;
}

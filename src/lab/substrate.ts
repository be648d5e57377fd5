/** What an experiment runs on: control groups of the kernel, or the simulated machine. Times are milliseconds since its start. */
import type { Millicores, Millis } from '../lib/units.ts';

/** What a pod does with its CPU. */
export type PodLoad =
  /** Requests that come whether or not earlier ones are answered, each wanting `workMillis` of CPU on average. */
  | {
      readonly kind: 'requests';
      readonly ratePerSecond: (millis: Millis) => number;
      readonly workMillis: Millis;
      readonly threads: number;
    }
  /** Takes all it can get. */
  | { readonly kind: 'spin'; readonly threads: number };

export interface LabPod {
  readonly name: string;
  readonly load: PodLoad;
  /** What its author asked for. */
  readonly request: Millicores;
  /** What it must never be without. */
  readonly claim: Millicores;
  readonly weight: number;
  /** Of a class nobody waits for: only these may be given a ceiling by default. */
  readonly isBatch: boolean;
  /** Comes and goes within the experiment; left out, it is there all the time. */
  readonly from?: Millis;
  readonly until?: Millis;
}

/** What an arm decides about a pod. */
export interface CpuSettings {
  /** As a request: shares in proportion to it. */
  readonly request: Millicores;
  /** Undefined is no quota. */
  readonly limit: Millicores | undefined;
}

/** Running totals since the pod's start. */
export interface PodCounters {
  readonly usedMillis: Millis;
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledMillis: Millis;
  /** Time in which a thread was ready and waited: PSI's `some`. */
  readonly waitedMillis: Millis;
}

/** One request: when it was meant to be sent and how long its answer took from then; undefined: none within the patience. */
export interface Reply {
  readonly sentAt: Millis;
  readonly latencyMillis: Millis | undefined;
}

/** Who asks gives up after this long. */
export const PATIENCE_MILLIS: Millis = 2000;

/** One run's machine; close it also when the run fails. Pods are named as in the load. */
export interface Substrate {
  readonly kind: 'kernel' | 'simulated';
  start(pod: LabPod, settings: CpuSettings, seed: number): Promise<void>;
  stop(name: string): Promise<void>;
  /** Called only with settings that differ from those in force: writing a quota anew refills it. */
  apply(name: string, settings: CpuSettings): Promise<void>;
  counters(name: string): PodCounters;
  /** Lets time pass. */
  runUntil(millis: Millis): Promise<void>;
  /** Of a pod with requests, in the order they were sent; those within the last {@link PATIENCE_MILLIS} are left out. */
  replies(name: string): Promise<readonly Reply[]>;
  close(): Promise<void>;
}

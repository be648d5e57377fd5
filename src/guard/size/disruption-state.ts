/**
 * What a change that costs a workload its pods draws on beside the rules of sizes: one budget, whichever engine asks.
 */
import type { DisruptionTimes } from '../../decide/placement/policy.ts';
import type { Storm } from '../../decide/placement/spot-outlook.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';

export interface DisruptionState extends DisruptionTimes {
  /** Of the workload, by any engine. */
  readonly last: EpochMillis | undefined;
  /** Between two disruptions of one workload. */
  readonly cooldownMillis: Millis;
  /** The only replica of a workload may be disrupted. */
  readonly allowSingleReplica: boolean;
  /** Pods that are unready for longer no longer keep the others from being disrupted. */
  readonly stuckMillis: Millis;
  /** The cloud takes nodes away; left out, it does not. */
  readonly storm?: Storm | undefined;
  /** Disruptions under way in the whole cluster, and how many may be. */
  readonly inFlight: number;
  readonly limit: number;
}

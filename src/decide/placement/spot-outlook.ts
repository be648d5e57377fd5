/**
 * What decisions and guards ask about spot: whether it can be had, whether nodes are being lost, which pools to avoid.
 */
import type { EpochMillis } from '../../lib/units.ts';
import type { SpotPool } from '../../model/spot-pool.ts';

/** Whether new pods of a workload may be sent to spot. */
export type SpotState =
  | { readonly kind: 'open' }
  /** Spot had no room; not tried again before `until`. */
  | { readonly kind: 'closed'; readonly since: EpochMillis; readonly until: EpochMillis }
  /** The pause is over and one pod may find out; `isTaken` once that pod is on its way. */
  | { readonly kind: 'probing'; readonly since: EpochMillis; readonly isTaken: boolean };

/** Many spot nodes were lost within a short time. */
export interface Storm {
  readonly lost: number;
  /** Nothing is moved before, if no more nodes are lost. */
  readonly calmAt: EpochMillis;
}

/** A pool that loses too many of its nodes. */
export interface LossyPool {
  readonly key: SpotPool['key'];
  readonly zone: SpotPool['zone'];
  /** Of the nodes that were lost. */
  readonly instanceTypes: readonly string[];
  /** Lost within the last hour. */
  readonly lost: number;
  /** Nodes that are there. */
  readonly standing: number;
}

export interface SpotOutlook {
  stateOf(workloadUid: string, now: EpochMillis): SpotState;
  /** When a pod of the workload last found a place on spot; undefined when that was not seen. */
  lastLanded(workloadUid: string): EpochMillis | undefined;
  storm(now: EpochMillis): Storm | undefined;
  /** Pools that lost at least `sharePercent` of their nodes within the last hour; none for 100. */
  lossyPools(sharePercent: number, now: EpochMillis): readonly LossyPool[];
}

/** Nothing was ever seen to fail: what plans made without a running operator assume. */
export const untroubledSpot: SpotOutlook = {
  stateOf: () => ({ kind: 'open' }),
  lastLanded: () => undefined,
  storm: () => undefined,
  lossyPools: () => [],
};

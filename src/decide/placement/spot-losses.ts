/**
 * Which spot nodes are there and which were lost lately: when that is a storm, and which pools lose too many. No I/O.
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { SpotPool } from '../../model/spot-pool.ts';
import type { LossyPool, SpotOutlook } from './spot-outlook.ts';

export interface SpotLosses extends Pick<SpotOutlook, 'storm' | 'lossyPools'> {
  /** The spot node is there. Told again, its pool may be another. */
  standing(nodeUid: string, pool: SpotPool): void;
  /**
   * The node leaves or is gone.
   * @param isLoss it was taken away with pods on it; an autoscaler that gives an empty node back is no sign of
   * anything.
   */
  gone(nodeUid: string, isLoss: boolean, at: EpochMillis): void;
}

/**
 * Interruptions of one type and zone fall within minutes of each other; what is lost in ten belongs together (hazard
 * H8).
 */
const STORM_PERIOD_MILLIS: Millis = 600_000;
/** Calm for this long after the last loss that made it a storm. */
const CALM_MILLIS: Millis = 600_000;
/** Fewer are everyday life, whatever the share. */
const STORM_MIN_LOSSES = 3;
/**
 * Of the spot nodes there were. Azure's worst pools lose 20 % an hour, which is 3 % in the period: a storm is well
 * beyond that.
 */
const STORM_MIN_SHARE = 0.1;
const HOUR_MILLIS: Millis = 3_600_000;
/** One node of three is chance. */
const LOSSY_MIN_LOSSES = 2;

interface Loss {
  readonly nodeUid: string;
  readonly at: EpochMillis;
  readonly pool: SpotPool;
  /** The losses of the period up to this one made a storm. */
  readonly isStorm: boolean;
}

export function createSpotLosses(): SpotLosses {
  const nodes = new Map<string, SpotPool>();
  /** In order of time, one hour at most. */
  let losses: Loss[] = [];
  const within = (millis: Millis, now: EpochMillis): Loss[] =>
    losses.filter(({ at }) => at > now - millis && at <= now);

  return {
    standing(nodeUid, pool) {
      nodes.set(nodeUid, pool);
    },
    gone(nodeUid, isLoss, at) {
      const pool = nodes.get(nodeUid);
      if (pool === undefined || !nodes.delete(nodeUid) || !isLoss) return;
      losses = losses.filter((loss) => loss.at > at - HOUR_MILLIS);
      const loss = { nodeUid, at, pool };
      const count = nodesOf([...within(STORM_PERIOD_MILLIS, at), loss]);
      const isStorm = count >= STORM_MIN_LOSSES && count >= STORM_MIN_SHARE * (count + nodes.size);
      losses.push({ ...loss, isStorm });
    },
    storm(now) {
      const last = losses.findLast(({ isStorm, at }) => isStorm && at <= now);
      if (last === undefined || last.at + CALM_MILLIS <= now) return undefined;
      const lost = nodesOf(within(STORM_PERIOD_MILLIS + CALM_MILLIS, now));
      return { lost, calmAt: last.at + CALM_MILLIS };
    },
    lossyPools(sharePercent, now) {
      const recent = within(HOUR_MILLIS, now);
      // Asked at every admission; on a quiet day it costs nothing.
      if (sharePercent >= 100 || recent.length < LOSSY_MIN_LOSSES) return [];
      return [...Map.groupBy(recent, ({ pool }) => pool.key)].flatMap(([key, lostHere]): LossyPool[] => {
        const lost = nodesOf(lostHere);
        const standing = [...nodes.values()].filter((pool) => pool.key === key).length;
        if (lost < LOSSY_MIN_LOSSES || lost * 100 < sharePercent * (lost + standing)) return [];
        const instanceTypes = [...new Set(lostHere.flatMap(({ pool }) => pool.instanceType ?? []))].toSorted();
        return [{ key, zone: lostHere[0]?.pool.zone, instanceTypes, lost, standing }];
      });
    },
  };
}

/** One that came back and went again, as one that is ready now and then, is one node. */
function nodesOf(losses: readonly Pick<Loss, 'nodeUid'>[]): number {
  return new Set(losses.map(({ nodeUid }) => nodeUid)).size;
}

/**
 * Which spot pools a new pod had better not go to, and how that is said in the pod. Nodes of one pool (zone and
 * instance family) go within minutes of each other, so a workload should not stand in one. Soft throughout: avoiding a
 * pool must never be what keeps a pod from running, and no pod is moved for it.
 */
import type { EpochMillis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { isLive, revisionsOf } from '../../model/owners.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import { INSTANCE_TYPE_LABEL, poolOf, type SpotPool, ZONE_LABEL } from '../../model/spot-pool.ts';
import type { SpotOutlook } from './spot-outlook.ts';

export interface AvoidedPool {
  readonly key: SpotPool['key'];
  readonly zone: SpotPool['zone'];
  readonly instanceTypes: readonly string[];
  /** All others are as full; only pools yet to be made are better. Default false. */
  readonly isMild?: boolean;
  /** For people. */
  readonly why: string;
}

export interface PoolInput {
  readonly view: ClusterView;
  readonly sides: Sides;
  readonly settings: PlacementSettings;
  readonly spot?: Pick<SpotOutlook, 'lossyPools'> | undefined;
  readonly now: EpochMillis;
}

/**
 * Pools that lose too many nodes and pools that hold their share of the workload; none where there is no other pool to
 * go to.
 */
export function poolsToAvoid(input: PoolInput, workload: WorkloadRecord): readonly AvoidedPool[] {
  const { spot, settings, now } = input;
  const lossy = (spot?.lossyPools(settings.avoidPoolsLosing, now) ?? []).map((pool): AvoidedPool => {
    const { key, zone, instanceTypes, lost, standing } = pool;
    return { key, zone, instanceTypes, why: `it lost ${lost} of ${lost + standing} nodes within an hour` };
  });
  const full = settings.maxPerPool >= 100 ? [] : fullPools(input, workload);
  const avoided = [...lossy, ...full.filter(({ key }) => lossy.every((pool) => pool.key !== key))];
  return avoided.length > 0 && hasOther(input, avoided) ? avoided : [];
}

/**
 * Pools that hold as many pods of the workload as one may. Where all that there are do, as few pools of a small
 * workload must, those that hold the least are avoided mildly, for pools an autoscaler may make, so that it stays even.
 */
function fullPools({ view, sides, settings }: PoolInput, workload: WorkloadRecord): AvoidedPool[] {
  const limit = Math.max(1, Math.floor((workload.replicas * settings.maxPerPool) / 100));
  const held = new Map<string, { readonly pool: SpotPool; readonly types: Set<string>; count: number }>();
  for (const pod of revisionsOf(view, workload).flatMap(({ pods }) => pods)) {
    const node = pod.nodeName === undefined || !isLive(pod) ? undefined : view.node(pod.nodeName);
    if (node === undefined || sides.classOf(node) !== 'spot') continue;
    const pool = poolOf(node);
    const entry = held.get(pool.key) ?? { pool, types: new Set<string>(), count: 0 };
    entry.count++;
    if (pool.instanceType !== undefined) entry.types.add(pool.instanceType);
    held.set(pool.key, entry);
  }
  const isAllFull = capacityPools(view, sides).every((key) => (held.get(key)?.count ?? 0) >= limit);
  const least = Math.min(...[...held.values()].map(({ count }) => count));
  return [...held.values()].flatMap(({ pool: { key, zone }, types, count }): AvoidedPool[] => {
    const isMild = isAllFull && count === least;
    if (count < limit || (isMild && !sides.isProvisionable('spot'))) return [];
    const why = `it holds ${count} of the pods already`;
    return [{ key, zone, instanceTypes: [...types].toSorted(), ...(isMild && { isMild }), why }];
  });
}

/** Somewhere else to go: a spot node of another pool that takes pods, or an autoscaler that may make one. */
function hasOther({ view, sides }: PoolInput, avoided: readonly AvoidedPool[]): boolean {
  if (sides.isProvisionable('spot')) return true;
  const keys = new Set(avoided.map(({ key }) => key));
  return capacityPools(view, sides).some((key) => !keys.has(key));
}

/** The spot pools with a node that takes pods. */
function capacityPools(view: ClusterView, sides: Sides): string[] {
  const keys = new Set<string>();
  for (const node of view.nodes()) {
    if (sides.classOf(node) === 'spot' && sides.isCapacity(node)) keys.add(poolOf(node).key);
  }
  return [...keys];
}

/** The largest weight Kubernetes takes. */
const FULL_WEIGHT = 100;

export interface Preference {
  readonly weight: number;
  readonly preference: {
    readonly matchExpressions: readonly {
      readonly key: string;
      readonly operator: 'NotIn';
      readonly values: string[];
    }[];
  };
}

/**
 * "Not this zone and type together" is no single term, so each half is a preference of its own: a node of the pool gets
 * neither, one that shares only the zone or the type gets half. A pool known by no label cannot be named, and is left
 * out.
 */
export function preferencesAgainst(pools: readonly AvoidedPool[]): Preference[] {
  return pools.flatMap(({ zone, instanceTypes, isMild }) => {
    const whole = isMild === true ? FULL_WEIGHT / 2 : FULL_WEIGHT;
    const halves = [
      ...(zone === undefined ? [] : [{ key: ZONE_LABEL, values: [zone] }]),
      ...(instanceTypes.length === 0 ? [] : [{ key: INSTANCE_TYPE_LABEL, values: [...instanceTypes] }]),
    ];
    return halves.map(({ key, values }) => ({
      weight: whole / halves.length,
      preference: { matchExpressions: [{ key, operator: 'NotIn' as const, values }] },
    }));
  });
}

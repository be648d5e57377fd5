/** The arithmetic of a rolling update: how many replicas each ReplicaSet of a Deployment should have next. Pure. */
import { resolveIntOrPercent } from '../../int-or-percent.ts';

/** What the arithmetic needs of one ReplicaSet. */
export interface SetSize {
  readonly name: string;
  /** `spec.replicas`. */
  readonly replicas: number;
  /** `status.availableReplicas`. */
  readonly available: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Annotation `deployment.kubernetes.io/max-replicas`: surge included, when the set was last sized. */
  readonly annotatedMaxReplicas: number | undefined;
}

export interface RollingBounds {
  readonly replicas: number;
  /** Pods allowed above `replicas`. */
  readonly maxSurge: number;
  /** Pods allowed to be missing from `replicas`. */
  readonly maxUnavailable: number;
}

/** New sizes by ReplicaSet name; sets that keep their size are absent. */
export type SizeChanges = ReadonlyMap<string, number>;

/**
 * The bounds in pods. Surge rounds up, unavailable rounds down; when both come to 0 one pod may be unavailable, or
 * nothing could ever move. Source: pkg/controller/deployment/util `ResolveFenceposts`.
 */
export function rollingBounds(
  replicas: number,
  maxSurge: number | string | undefined,
  maxUnavailable: number | string | undefined,
): RollingBounds {
  const surge = resolveIntOrPercent(maxSurge ?? '25%', replicas, 'up') ?? 0;
  const unavailable = resolveIntOrPercent(maxUnavailable ?? '25%', replicas, 'down') ?? 0;
  return {
    replicas,
    maxSurge: surge,
    maxUnavailable: surge === 0 && unavailable === 0 ? 1 : Math.min(unavailable, replicas),
  };
}

/** The next step: the new set first; only when that has nothing to do, the old ones. One kind of step a pass. */
export function rollingUpdateStep(bounds: RollingBounds, newSet: SetSize, oldSets: readonly SetSize[]): SizeChanges {
  const grown = newSetSize(bounds, newSet, oldSets);
  if (grown !== newSet.replicas) return new Map([[newSet.name, grown]]);
  return shrinkOldSets(bounds, newSet, oldSets);
}

function newSetSize(bounds: RollingBounds, newSet: SetSize, oldSets: readonly SetSize[]): number {
  if (newSet.replicas > bounds.replicas) return bounds.replicas;
  const total = newSet.replicas + sum(oldSets, (set) => set.replicas);
  const room = bounds.replicas + bounds.maxSurge - total;
  return room <= 0 ? newSet.replicas : newSet.replicas + Math.min(room, bounds.replicas - newSet.replicas);
}

/** Replicas of old sets that are not available go first and cost no availability; then available ones within the bound. */
function shrinkOldSets(bounds: RollingBounds, newSet: SetSize, oldSets: readonly SetSize[]): SizeChanges {
  const oldest = [...oldSets].sort((left, right) => left.createdAt - right.createdAt);
  const total = newSet.replicas + sum(oldest, (set) => set.replicas);
  const minAvailable = bounds.replicas - bounds.maxUnavailable;
  const newUnavailable = newSet.replicas - newSet.available;
  let removable = total - minAvailable - newUnavailable;
  const sizes = new Map(oldest.map((set) => [set.name, set.replicas]));
  if (removable > 0) {
    for (const set of oldest) {
      const unhealthy = Math.min(Math.max(0, set.replicas - set.available), removable);
      sizes.set(set.name, set.replicas - unhealthy);
      removable -= unhealthy;
    }
    const available = newSet.available + sum(oldest, (set) => set.available);
    let spare = Math.max(0, available - minAvailable);
    for (const set of oldest) {
      const size = sizes.get(set.name) ?? 0;
      const taken = Math.min(size, spare);
      sizes.set(set.name, size - taken);
      spare -= taken;
    }
  }
  return new Map(
    oldest.flatMap((set): [string, number][] => {
      const size = sizes.get(set.name) ?? set.replicas;
      return size === set.replicas ? [] : [[set.name, size]];
    }),
  );
}

/**
 * Spreads a change of `spec.replicas` in the middle of a rollout (or while paused) over the sets in proportion to their
 * size; what rounding leaves goes to the largest. Source: pkg/controller/deployment/sync.go `scale`.
 *
 * @param observedReplicas `status.replicas` of the Deployment, used for sets without the annotation.
 */
export function proportionalSizes(
  bounds: RollingBounds,
  sets: readonly SetSize[],
  observedReplicas: number,
): SizeChanges {
  const active = sets.filter((set) => set.replicas > 0);
  const total = sum(active, (set) => set.replicas);
  const allowed = bounds.replicas > 0 ? bounds.replicas + bounds.maxSurge : 0;
  const toAdd = allowed - total;
  // Of equal size the newer grows first and the older shrinks first.
  const direction = toAdd > 0 ? -1 : 1;
  const ordered = active.sort((a, b) => b.replicas - a.replicas || direction * (a.createdAt - b.createdAt));
  const sizes = new Map<string, number>();
  let added = 0;
  for (const set of ordered) {
    const share = toAdd === 0 || added === toAdd ? 0 : proportion(bounds, set, toAdd - added, observedReplicas);
    sizes.set(set.name, set.replicas + share);
    added += share;
  }
  const largest = ordered[0];
  if (largest !== undefined) sizes.set(largest.name, Math.max(0, (sizes.get(largest.name) ?? 0) + toAdd - added));
  return new Map(
    ordered.flatMap((set): [string, number][] => {
      const size = sizes.get(set.name) ?? set.replicas;
      return size === set.replicas ? [] : [[set.name, size]];
    }),
  );
}

function proportion(bounds: RollingBounds, set: SetSize, remaining: number, observedReplicas: number): number {
  if (bounds.replicas === 0) return -set.replicas;
  const base = set.annotatedMaxReplicas || observedReplicas;
  if (base === 0) return 0;
  const share = Math.round((set.replicas * (bounds.replicas + bounds.maxSurge)) / base) - set.replicas;
  return remaining > 0 ? Math.min(share, remaining) : Math.max(share, remaining);
}

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}

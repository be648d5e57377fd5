/** A change that was made and is looked after for a while: what it was, and how the pods were when it began. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { isLive } from '../../model/owners.ts';
import {
  effectiveChanges,
  type SizeChange,
  type SizeKey,
  sizeKeys,
  sizeOfContainer,
  sizePaths,
} from '../../model/pod-size.ts';
import { endedAt } from '../../model/recent-kill.ts';
import { restartedContainer, restartsOn } from '../../model/restart-on-resize.ts';
import type { ContainerSize, ContainerSpecRecord, ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { ResourceName } from './amount-text.ts';

/** One resource of one container: what is changed, blamed and taken back as a whole, request and limit together. */
export interface SizedPart {
  readonly container: string;
  readonly resource: ResourceName;
}

export function includesPart(parts: readonly SizedPart[], { container, resource }: SizedPart): boolean {
  return parts.some((part) => part.container === container && part.resource === resource);
}

/** Kept until the harm it could do would have been seen; see {@link watchMillis}. */
export interface WatchedChange {
  readonly changes: readonly SizeChange[];
  /** What was in force before. */
  readonly before: readonly ContainerSpecRecord[];
  readonly startedAt: EpochMillis;
  /** Restarts of each container of each pod when it began: `uid/container`. Pods that came later began with none. */
  readonly restarts: ReadonlyMap<string, number>;
  /** Uids of the pods that were not ready when it began: what they lack is not ours. */
  readonly unready: ReadonlySet<string>;
  /** Containers that the change itself restarts, once in each pod (`resizePolicy: RestartContainer`). */
  readonly restarting: ReadonlySet<string>;
  /** Up to which count restarts are none of its harm: asked for by Stowage, or of a rollout of somebody else. `uid/container`. */
  readonly restarted: ReadonlyMap<string, number>;
}

/**
 * @param pods all of the workload: one that is yet to run is not ready either, and whoever leads next must not blame the
 * change for that.
 * @param isInPlace running pods are resized, so that `resizePolicy` counts.
 */
export function watchChange(
  changes: readonly SizeChange[],
  before: readonly ContainerSpecRecord[],
  pods: readonly SizedPod[],
  now: EpochMillis,
  isInPlace = false,
): WatchedChange {
  const there = pods.filter(({ pod }) => isLive(pod));
  const restarts = new Map<string, number>();
  for (const { pod, sizing } of there) {
    for (const { name, restartCount } of sizing.statuses) restarts.set(`${pod.uid}/${name}`, restartCount);
  }
  const unready = new Set(there.filter(({ pod }) => !pod.ready).map(({ pod }) => pod.uid));
  const restarting = changes.filter((change) => isInPlace && restartedContainer(before, [change]) !== undefined);
  return {
    changes,
    before,
    startedAt: now,
    restarts,
    unready,
    restarting: new Set(restarting.map(({ container }) => container)),
    restarted: new Map(),
  };
}

/**
 * The watch of a change while the pod is asked for these, of which it may be a part: what that restarts is not its harm.
 * What the pod shows by now has been judged.
 */
export function whileAsked<T extends Pick<WatchedChange, 'restarted'>>(
  watched: T,
  { pod, sizing }: SizedPod,
  asked: readonly SizeChange[],
): T {
  const changes = effectiveChanges(sizing.containers, asked);
  const restarts = changes.filter((change) => restartedContainer(sizing.containers, [change]) !== undefined);
  if (restarts.length === 0) return watched;
  const counts = restarts.map(({ container }) => {
    const status = sizing.statuses.find(({ name }) => name === container);
    return [`${pod.uid}/${container}`, (status?.restartCount ?? 0) + 1] as const;
  });
  return { ...watched, restarted: new Map([...watched.restarted, ...counts]) };
}

/**
 * The watch of a change while somebody rolls out another template: what the new pods have gone through by then is rather
 * that template's doing, but for want of memory.
 */
export function whileRolledOut<T extends Pick<WatchedChange, 'restarts' | 'restarted'>>(
  watched: T,
  pods: readonly SizedPod[],
): T {
  const counts = pods.flatMap(({ pod, sizing }) =>
    sizing.statuses.flatMap(({ name, restartCount }) => {
      const key = `${pod.uid}/${name}`;
      const isNew = !watched.restarts.has(key) && restartCount > (watched.restarted.get(key) ?? 0);
      return isNew ? [[key, restartCount] as const] : [];
    }),
  );
  return counts.length === 0 ? watched : { ...watched, restarted: new Map([...watched.restarted, ...counts]) };
}

/**
 * The watch of a change that somebody else began. Where a container ended since whose size may not change without a
 * restart, he may have asked for that: nobody tells, and once it is no harm.
 * @param then how its pods were, those that were well left out; undefined: it is told from what they show. A container
 * that ended since had one restart less, and a pod that was unready before is none of its doing.
 */
export function resumeWatch({
  changes,
  before,
  startedAt,
  then,
  pods,
  isInPlace,
}: Pick<WatchedChange, 'changes' | 'before' | 'startedAt'> & {
  readonly then?: Pick<WatchedChange, 'restarts' | 'unready'> | undefined;
  readonly pods: readonly SizedPod[];
  readonly isInPlace: boolean;
}): WatchedChange {
  const there = pods.filter(({ pod }) => pod.createdAt <= startedAt);
  const restarts = new Map(then?.restarts);
  const restarted = new Map<string, number>();
  for (const { pod, sizing } of there) {
    for (const status of sizing.statuses) {
      const key = `${pod.uid}/${status.name}`;
      const count = restartsBefore(status, startedAt);
      restarts.set(key, then === undefined ? count : (then.restarts.get(key) ?? 0));
      // Of what is told, restarts that were asked for are left out already.
      if (isInPlace && count < status.restartCount && mayRestart(before, status.name))
        restarted.set(key, then === undefined ? status.restartCount : 0);
    }
  }
  const wasUnready = there.filter(({ pod }) => !pod.ready && (pod.readyChangedAt ?? startedAt) < startedAt);
  const unready = then?.unready ?? new Set(wasUnready.map(({ pod }) => pod.uid));
  return { ...watchChange(changes, before, [], startedAt, isInPlace), restarts, unready, restarted };
}

function mayRestart(containers: readonly ContainerSpecRecord[], container: string): boolean {
  return (['cpu', 'memory'] as const).some((resource) => restartsOn(containers, { container, resource }));
}

function restartsBefore({ restartCount, lastTermination }: ContainerStatusRecord, startedAt: EpochMillis): number {
  const endAt = lastTermination && endedAt(lastTermination);
  return restartCount > 0 && (endAt ?? 0) > startedAt ? restartCount - 1 : restartCount;
}

/** The amounts of a size that are of the resource. */
export const keysOf: Readonly<Record<ResourceName, readonly SizeKey[]>> = {
  cpu: sizeKeys.filter((key) => sizePaths[key].resource === 'cpu'),
  memory: sizeKeys.filter((key) => sizePaths[key].resource === 'memory'),
};

/** Resources that the change sets something of. */
export function changedResources({ to }: SizeChange): readonly ResourceName[] {
  return (['cpu', 'memory'] as const).filter((resource) => keysOf[resource].some((key) => to[key] !== undefined));
}

/** The resources of the container that the change lowers: request or limit. */
export function loweredResources(
  { container, to }: SizeChange,
  before: readonly ContainerSpecRecord[],
): readonly ResourceName[] {
  const from = sizeOfContainer(before, container) ?? {};
  return (['cpu', 'memory'] as const).filter((resource) => keysOf[resource].some((key) => falls(key, from, to)));
}

/** Whether the limit of CPU falls: less of a quota than before may throttle. */
export function lowersCpuLimit({ container, to }: SizeChange, before: readonly ContainerSpecRecord[]): boolean {
  return falls('cpuLimit', sizeOfContainer(before, container) ?? {}, to);
}

function falls(key: SizeKey, from: ContainerSize, to: ContainerSize): boolean {
  const [old, next] = [from[key], to[key]];
  return old !== undefined && next !== undefined && next < old;
}

export function isDecrease({ changes, before }: Pick<WatchedChange, 'changes' | 'before'>): boolean {
  return changes.some((change) => loweredResources(change, before).length > 0);
}

/** A change that lowers nothing does no harm: it is only looked after until it can be seen everywhere. */
const RAISE_MILLIS: Millis = 30_000;

/** How long a change is looked after. @param revertMillis how long a decrease may be taken back. */
export function watchMillis(change: Pick<WatchedChange, 'changes' | 'before'>, revertMillis: Millis): Millis {
  return isDecrease(change) ? revertMillis : Math.min(revertMillis, RAISE_MILLIS);
}

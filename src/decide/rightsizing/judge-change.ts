/** Whether a decrease did harm: out of memory, restarts, or pods that are no longer ready, soon after and where it was made. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { sizeKeys } from '../../model/pod-size.ts';
import type { ContainerSize, ContainerSpecRecord, ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { SizeChange } from '../size-decision.ts';
import type { ResourceName } from './amount-text.ts';

/** A change that is being watched. */
export interface WatchedChange {
  readonly changes: readonly SizeChange[];
  /** What was in force before. */
  readonly before: readonly ContainerSpecRecord[];
  readonly startedAt: EpochMillis;
  /** Restarts of each container of each pod when it began: `uid/container`. Pods that came later began with none. */
  readonly restarts: ReadonlyMap<string, number>;
  /** Uids of the pods that were not ready when it began: what they lack is not ours. */
  readonly unready: ReadonlySet<string>;
}

export interface Harm {
  readonly container: string;
  /** What the harm is put down to: resources that were lowered. */
  readonly resources: readonly ResourceName[];
  readonly cause: string;
}

/** A pod may be unready for a moment for reasons of its own. */
const UNREADY_PATIENCE_MILLIS: Millis = 60_000;

export function watchChange(
  changes: readonly SizeChange[],
  before: readonly ContainerSpecRecord[],
  pods: readonly SizedPod[],
  now: EpochMillis,
): WatchedChange {
  const restarts = new Map<string, number>();
  for (const { pod, sizing } of pods) {
    for (const { name, restartCount } of sizing.statuses) restarts.set(`${pod.uid}/${name}`, restartCount);
  }
  const unready = new Set(pods.filter(({ pod }) => !pod.ready).map(({ pod }) => pod.uid));
  return { changes, before, startedAt: now, restarts, unready };
}

/** The resources of the container that the change lowers: request or limit. */
export function loweredResources(
  { container, to }: SizeChange,
  before: readonly ContainerSpecRecord[],
): ResourceName[] {
  const from = before.find(({ name }) => name === container)?.size ?? {};
  const falls = (key: keyof ContainerSize): boolean => {
    const [old, next] = [from[key], to[key]];
    return old !== undefined && next !== undefined && next < old;
  };
  return [
    ...(falls('cpuRequest') || falls('cpuLimit') ? (['cpu'] as const) : []),
    ...(falls('memoryRequest') || falls('memoryLimit') ? (['memory'] as const) : []),
  ];
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

/**
 * Whether a change may begin while another one is looked after: only more of what that one leaves alone. Usage of memory is often
 * known before that of CPU, and CPU that is short must not wait until the memory is behind us.
 */
export function mayBegin(
  ongoing: Pick<WatchedChange, 'changes'> | undefined,
  next: Pick<WatchedChange, 'changes' | 'before'>,
): boolean {
  if (ongoing === undefined) return true;
  if (isDecrease(next)) return false;
  return !next.changes.some(({ container, to }) =>
    ongoing.changes.some(
      (other) =>
        other.container === container && sizeKeys.some((key) => to[key] !== undefined && other.to[key] !== undefined),
    ),
  );
}

/** @param pods those that have the new size. @returns undefined while nothing bad is seen. */
export function judgeChange(watched: WatchedChange, pods: readonly SizedPod[], now: EpochMillis): Harm | undefined {
  for (const change of watched.changes) {
    const resources = loweredResources(change, watched.before);
    if (resources.length === 0) continue;
    for (const pod of pods) {
      const harm = harmIn(pod, change.container, resources, watched, now);
      if (harm !== undefined) return { container: change.container, ...harm };
    }
  }
  return undefined;
}

function harmIn(
  { pod, sizing }: SizedPod,
  container: string,
  resources: readonly ResourceName[],
  { startedAt, restarts, unready }: WatchedChange,
  now: EpochMillis,
): Omit<Harm, 'container'> | undefined {
  const status = sizing.statuses.find(({ name }) => name === container);
  const before = restarts.get(`${pod.uid}/${container}`) ?? 0;
  if (status !== undefined && status.restartCount > before) {
    if (isOutOfMemory(status)) {
      // A kill for want of memory says nothing about CPU.
      return resources.includes('memory')
        ? { resources: ['memory'], cause: `container ${container} of pod ${pod.name} was killed for want of memory` }
        : undefined;
    }
    return { resources, cause: `container ${container} of pod ${pod.name} restarted` };
  }
  const since = pod.readyChangedAt ?? now;
  const isLongUnready = !pod.ready && since >= startedAt && now - since >= UNREADY_PATIENCE_MILLIS;
  // A pod that has never been ready is starting; what is wrong with it may be anything.
  if (isLongUnready && !unready.has(pod.uid) && restarts.has(`${pod.uid}/${container}`)) {
    return { resources, cause: `pod ${pod.name} is not ready since ${new Date(since).toISOString()}` };
  }
  return undefined;
}

function isOutOfMemory({ lastTermination }: ContainerStatusRecord): boolean {
  return lastTermination?.reason === 'OOMKilled';
}

/** Which running pods do not have the sizes in force yet, and what to change in each. */

import { isRunning } from '../../model/owners.ts';
import { type SizeChange, type SizeKey, sizeKeys } from '../../model/pod-size.ts';
import type { ContainerSize, ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';

/** The amounts that rightsizing has a say in, by container; all others are left as they are. */
export type ManagedKeys = ReadonlyMap<string, ReadonlySet<SizeKey>>;

export interface DriftedPod {
  readonly pod: SizedPod;
  /** From what its spec says, whether or not that is in force on its node; never empty. */
  readonly changes: readonly SizeChange[];
}

/** Pods that run, in the order of the list; those that end or wait for a node get their size otherwise. */
export function runningPods(pods: readonly SizedPod[]): readonly SizedPod[] {
  return pods.filter(({ pod }) => isRunning(pod));
}

/**
 * Only of containers that run is it seen whether their kubelet can (resizeSupport). The API server asks no more of a pod
 * none of whose containers runs (isPodResizeRequestSupported, pkg/apis/core/validation).
 */
export function isResizable({ sizing }: SizedPod): boolean {
  return sizing.statuses.some(({ running }) => running);
}

/** There are pods, and none of them can be resized now. */
export function noneResizable(pods: readonly SizedPod[]): boolean {
  return pods.length > 0 && !pods.some(isResizable);
}

/** Whose pods are ready first, the newest of them: it has the least to lose. */
export function firstToChange<Item>(items: readonly Item[], podOf: (item: Item) => SizedPod): readonly Item[] {
  return items.toSorted((a, b) => {
    const [{ pod: left }, { pod: right }] = [podOf(a), podOf(b)];
    return Number(right.ready) - Number(left.ready) || right.createdAt - left.createdAt;
  });
}

export function driftedPods(
  pods: readonly SizedPod[],
  inForce: readonly ContainerSpecRecord[],
  managed: ManagedKeys,
): readonly DriftedPod[] {
  return runningPods(pods).flatMap((pod) => {
    const changes = driftOf(pod, inForce, managed);
    return changes.length === 0 ? [] : [{ pod, changes }];
  });
}

export function driftOf(
  { sizing }: SizedPod,
  inForce: readonly ContainerSpecRecord[],
  managed: ManagedKeys,
): readonly SizeChange[] {
  return inForce.flatMap(({ name, size }) => {
    const actual = sizing.containers.find((container) => container.name === name);
    const keys = managed.get(name);
    if (actual === undefined || keys === undefined) return [];
    const to: Partial<Record<SizeKey, number>> = {};
    for (const key of sizeKeys) {
      const wanted = size[key];
      if (keys.has(key) && wanted !== undefined && wanted !== actual.size[key]) to[key] = wanted;
    }
    return Object.keys(to).length === 0 ? [] : [{ container: name, to: to satisfies ContainerSize }];
  });
}

/** All amounts of these containers. */
export function everyKey(containers: readonly ContainerSpecRecord[]): ManagedKeys {
  return new Map(containers.map(({ name }) => [name, new Set(sizeKeys)]));
}

/** Keys of several changes together. */
export function managedKeys(changes: readonly SizeChange[], more: ManagedKeys = new Map()): ManagedKeys {
  const keys = new Map<string, Set<SizeKey>>([...more].map(([container, own]) => [container, new Set(own)]));
  for (const { container, to } of changes) {
    const own = keys.get(container) ?? new Set<SizeKey>();
    keys.set(container, own);
    for (const key of sizeKeys) if (to[key] !== undefined) own.add(key);
  }
  return keys;
}

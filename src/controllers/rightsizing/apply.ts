/** Applying sizes to one workload: what each method (in place, by eviction, by a new template) is given. */

import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import { everyKey, type ManagedKeys } from '../../decide/rightsizing/pod-drift.ts';
import { readAppliedSizes } from '../../model/applied-sizes.ts';
import type { ValidPolicy } from '../../model/optimization-policy.ts';
import { sizeKeys, sizePaths } from '../../model/pod-size.ts';
import { noReplicas, type ReplicaStates, stateOfPod } from '../../model/replica-sizes.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { Advised } from './advise.ts';
import type { Annotations } from './annotate.ts';
import type { WorkloadMemory } from './memory.ts';
import type { ApplyResult } from './result.ts';

export interface ApplyContext {
  readonly advised: Advised;
  readonly policy: ValidPolicy;
  readonly memory: WorkloadMemory;
  /** Pods that run. */
  readonly live: readonly SizedPod[];
  /** Sizes that replicas have each for itself; left out: none has. */
  readonly replicas?: ReplicaStates;
  /**
   * Writes annotations on the workload, on top of those it has.
   * @returns why it could not; undefined where it could, or where the workload is gone.
   */
  readonly annotate: (wanted: Annotations) => Promise<ApplyResult | undefined>;
  readonly signal: AbortSignal;
}

/** One look by one of the methods. Never rejects for what the API answers. */
export type ApplySizes = (context: ApplyContext) => Promise<ApplyResult>;

/** Keys of the sizes that the workload says are in force. */
export function appliedKeys({ advised: { workload } }: ApplyContext): ManagedKeys {
  const applied = readAppliedSizes(workload.annotations[rightsizingKeys.appliedSizes]);
  return new Map(
    applied.map(({ container, amounts }) => [container, new Set(sizeKeys.filter((key) => amounts[key] !== undefined))]),
  );
}

/**
 * What rightsizing has a say in, of this pod: every size of one it has sized before, `ours` of any other.
 * @param isAllocated allocation shares out its CPU: what it requests of that says nothing, and is not rightsizing's to
 * change.
 */
export function keysOfPod(
  pod: SizedPod,
  containers: readonly ContainerSpecRecord[],
  ours: ManagedKeys,
  isAllocated: boolean,
): ManagedKeys {
  const keys: ManagedKeys = isSizedByUs(pod) ? everyKey(containers) : ours;
  if (!isAllocated) return keys;
  return new Map(
    [...keys].map(([name, own]) => [name, new Set([...own].filter((key) => sizePaths[key].resource !== 'cpu'))]),
  );
}

/** Stowage gave the pod the size it has, in place or at admission. */
function isSizedByUs({ sizing: { marks } }: SizedPod): boolean {
  return marks[sizingKeys.originalResources] !== undefined || marks[rightsizingKeys.applied] !== undefined;
}

/** With the pods whose replicas have the size of all as the only ones. */
export function ofOneSize(context: ApplyContext): ApplyContext {
  const { advised, live, replicas = noReplicas } = context;
  if (replicas.size === 0) return context;
  return { ...context, live: live.filter(({ pod }) => stateOfPod(replicas, advised.workload, pod) === undefined) };
}

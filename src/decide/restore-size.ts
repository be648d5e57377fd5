/** Putting back what a pod had before Stowage sized it: on opt-out, when a policy goes, on `stowage restore`. */
import { originalsKeys } from '../api/annotations-sizing.ts';
import { parseOriginals } from '../model/original-sizes.ts';
import { effectiveChanges, type SizeChange, type SizeKey, sizeKeys, sizePaths } from '../model/pod-size.ts';
import type { NodeRecord } from '../model/records.ts';
import { podRef, workloadRef } from '../model/refs.ts';
import type { ContainerSize, SizedWorkload } from '../model/sizing-records.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import type { ResizeDecision, SizingEngine } from './size-decision.ts';

/** Millicores. */
const LEAST_REQUEST = 1;

export type RestorePlan =
  /** The engine never changed the pod, or all is as it was. `isKept`: the annotation can go. */
  | { readonly kind: 'nothing'; readonly isKept: boolean }
  | { readonly kind: 'unreadable'; readonly key: string }
  /**
   * A limit is to be raised to what the node has, and that is not known now. Nothing is put back until it is: with the
   * annotation gone the limit would stay for ever.
   */
  | { readonly kind: 'unknown'; readonly resource: 'cpu' | 'memory' }
  | {
      readonly kind: 'resize';
      readonly decision: ResizeDecision;
      /** Limits that were not there before and cannot be removed in place: raised to what the node has. */
      readonly lifted: readonly { readonly container: string; readonly resource: 'cpu' | 'memory' }[];
    };

/**
 * What takes the pod back. A limit that was not there before cannot be removed in place (KEP-1287), so it is lifted
 * instead. The plan passes the guards like any other decision: there may be no room for the old sizes now.
 * @param node of the pod: a limit that cannot be removed is raised to its allocatable, where it bounds nothing. A kubelet
 * that cannot read its machine reports 0 of it.
 * @param workload of the pod, for the decision.
 */
export function planRestore(
  { pod, sizing }: SizedPod,
  engine: SizingEngine,
  node: NodeRecord | undefined,
  workload: SizedWorkload | undefined,
): RestorePlan {
  const key = originalsKeys[engine];
  const text = sizing.marks[key];
  if (text === undefined) return { kind: 'nothing', isKept: false };
  const originals = parseOriginals(text);
  if (originals === undefined) return { kind: 'unreadable', key };

  const lifted: { container: string; resource: 'cpu' | 'memory' }[] = [];
  let unknown: 'cpu' | 'memory' | undefined;
  const changes = sizing.containers.flatMap(({ name, size }): SizeChange[] => {
    const original = originals.get(name);
    if (original === undefined) return [];
    const to: { -readonly [Key in SizeKey]?: number } = engine === 'allocation' ? cpuOf(original) : { ...original };
    // Given to a container beside others, under a ceiling: it cannot be removed either, but be next to nothing.
    const isGiven = engine === 'allocation' && size.cpuRequest !== undefined && original.cpuRequest === undefined;
    if (isGiven) to.cpuRequest = Math.min(LEAST_REQUEST, size.cpuRequest ?? 0);
    for (const each of sizeKeys) {
      const { list, resource } = sizePaths[each];
      // A limit of ours.
      const isAdded = list === 'limits' && size[each] !== undefined && original[each] === undefined;
      if (!isAdded || (engine === 'allocation' && resource === 'memory')) continue;
      const { cpuMillis = 0, memoryBytes = 0 } = node?.allocatable ?? {};
      const whole = resource === 'cpu' ? cpuMillis : memoryBytes;
      if (whole <= 0) unknown = resource;
      to[each] = Math.max(size[each] ?? 0, whole);
      if (to[each] !== size[each]) lifted.push({ container: name, resource });
    }
    return [{ container: name, to }];
  });
  if (unknown !== undefined) return { kind: 'unknown', resource: unknown };
  const effective = effectiveChanges(sizing.containers, changes);
  if (effective.length === 0) return { kind: 'nothing', isKept: true };
  return {
    kind: 'resize',
    lifted,
    decision: {
      kind: 'resize',
      engine,
      workload: workload && workloadRef(workload),
      workloadUid: workload?.uid,
      pod: podRef(pod),
      changes: effective,
      isRestore: true,
      why: {
        summary:
          lifted.length === 0
            ? 'puts back the sizes from before Stowage'
            : 'puts back the sizes from before Stowage; limits that cannot be removed in place are raised to what the node has',
        numbers: { lifted: lifted.length },
      },
    },
  };
}

/** Whoever may edit the annotation may write memory into it, which is never allocation's to change. */
function cpuOf(size: ContainerSize): ContainerSize {
  const { memoryRequest: _, memoryLimit: __, ...cpu } = size;
  return cpu;
}

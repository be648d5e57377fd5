/** Whether the pod that is made in the place of another finds room on a side. */
import type { ClusterView } from './cluster-view.ts';
import { findRoom, type Room } from './find-room.ts';
import { hasEnded, isLive } from './owners.ts';
import type { PodRecord, PodTemplate, Side, WorkloadRecord } from './records.ts';
import { replacementOf } from './replacement.ts';
import type { Sides } from './sides.ts';

export interface ReplacementRequest {
  readonly workload: WorkloadRecord;
  /** The pod that goes. */
  readonly pod: PodRecord;
  /** All pods of the workload. */
  readonly pods: readonly PodRecord[];
  readonly side: Side;
  /** See {@link findRoom}. */
  readonly awaited?: readonly PodTemplate[] | undefined;
}

/** Of the pod as its owner makes it anew: the same volumes, and the place of the old one free. */
export function roomForReplacement(view: ClusterView, sides: Sides, request: ReplacementRequest): Room {
  const { workload, pod, pods, side, awaited } = request;
  return findRoom(view, sides, {
    ...replacementOf(workload, pod, sides),
    namespace: workload.namespace,
    side,
    claims: pod.claims,
    ...nodesOfOthers(pods, pod),
    leaving: pod,
    awaited,
  });
}

interface NodesOfOthers {
  /** On which other pods of the workload run. */
  readonly siblingNodes: ReadonlySet<string>;
  /** On which some are ending. */
  readonly endingNodes: ReadonlySet<string>;
}

export function nodesOfOthers(pods: readonly PodRecord[], leaving: PodRecord): NodesOfOthers {
  const others = pods.filter((pod) => pod.uid !== leaving.uid && !hasEnded(pod));
  const nodesOf = (some: readonly PodRecord[]) => new Set(some.flatMap(({ nodeName }) => nodeName ?? []));
  return {
    siblingNodes: nodesOf(others.filter(isLive)),
    endingNodes: nodesOf(others.filter(({ deletingAt }) => deletingAt !== undefined)),
  };
}

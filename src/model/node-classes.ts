/**
 * The nodes of a view by class, in sums: how many can take pods, what runs on them, and how much of them is requested.
 */
import type { Bytes, Millicores } from '../lib/units.ts';
import type { ClusterView } from './cluster-view.ts';
import { isLive } from './owners.ts';
import type { NodeClass } from './records.ts';
import type { Sides } from './sides.ts';

export interface NodeClassSums {
  readonly class: NodeClass;
  readonly nodes: number;
  /** Ready, not cordoned, not leaving. */
  readonly usable: number;
  /** Pods on them that are neither terminating nor ended. */
  readonly pods: number;
  /** Allocatable, and of it requested. */
  readonly cpuMillis: Millicores;
  readonly cpuRequested: Millicores;
  readonly memoryBytes: Bytes;
  readonly memoryRequested: Bytes;
}

export const nodeClasses: readonly NodeClass[] = ['spot', 'on-demand', 'unknown'];

/** One entry a class, in the order of {@link nodeClasses}, those without nodes included. */
export function sumNodeClasses(view: ClusterView, sides: Sides): readonly NodeClassSums[] {
  const none = { nodes: 0, usable: 0, pods: 0, cpuMillis: 0, cpuRequested: 0, memoryBytes: 0, memoryRequested: 0 };
  const sums = { spot: { ...none }, 'on-demand': { ...none }, unknown: { ...none } };
  for (const node of view.nodes()) {
    const sum = sums[sides.classOf(node)];
    const requested = view.requestedOnNode(node.name);
    sum.nodes++;
    if (sides.isCapacity(node)) sum.usable++;
    sum.pods += view.podsOnNode(node.name).filter(isLive).length;
    sum.cpuMillis += node.allocatable.cpuMillis;
    sum.cpuRequested += requested.cpuMillis;
    sum.memoryBytes += node.allocatable.memoryBytes;
    sum.memoryRequested += requested.memoryBytes;
  }
  return nodeClasses.map((name) => ({ class: name, ...sums[name] }));
}

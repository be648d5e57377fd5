/** The nodes of a view by class: how many can take pods, and what runs on them. */
import type { ClusterView } from '../model/cluster-view.ts';
import { isLive } from '../model/owners.ts';
import type { NodeClass, NodeRecord } from '../model/records.ts';
import type { Sides } from '../model/sides.ts';

export interface NodeClassSummary {
  readonly class: NodeClass;
  readonly nodes: number;
  /** Ready, not cordoned, not leaving. */
  readonly usable: number;
  /** Pods on them that are neither terminating nor ended. */
  readonly pods: number;
}

export const nodeClasses: readonly NodeClass[] = ['spot', 'on-demand', 'unknown'];

/** One entry a class, in the order of {@link nodeClasses}; `unknown` only where there is such a node. */
export function summarizeNodes(view: ClusterView, sides: Sides): NodeClassSummary[] {
  const nodes = [...view.nodes()];
  return nodeClasses
    .map((name) =>
      summarizeClass(
        view,
        sides,
        name,
        nodes.filter((node) => sides.classOf(node) === name),
      ),
    )
    .filter(({ class: name, nodes }) => name !== 'unknown' || nodes > 0);
}

function summarizeClass(
  view: ClusterView,
  sides: Sides,
  name: NodeClass,
  nodes: readonly NodeRecord[],
): NodeClassSummary {
  return {
    class: name,
    nodes: nodes.length,
    usable: nodes.filter((node) => sides.isCapacity(node)).length,
    pods: nodes.reduce((sum, node) => sum + view.podsOnNode(node.name).filter(isLive).length, 0),
  };
}

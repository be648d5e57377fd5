/** The nodes by class, in sums. */
import { isLive } from '../../model/owners.ts';
import type { NodeClassTold, Side } from './answers.ts';
import type { DashboardSources } from './sources.ts';

const classes: readonly Side[] = ['spot', 'on-demand', 'unknown'];

/** In this order; a class without nodes is left out. */
export function nodeClasses({ view, rules }: Pick<DashboardSources, 'view' | 'rules'>): NodeClassTold[] {
  const { sides } = rules();
  const sums = new Map(
    classes.map((name) => [
      name,
      { class: name, nodes: 0, usable: 0, pods: 0, cpuMillis: 0, cpuRequested: 0, memoryBytes: 0, memoryRequested: 0 },
    ]),
  );
  for (const node of view.nodes()) {
    const sum = sums.get(sides.classOf(node));
    if (sum === undefined) continue;
    const requested = view.requestedOnNode(node.name);
    sum.nodes++;
    if (sides.isCapacity(node)) sum.usable++;
    sum.pods += view.podsOnNode(node.name).filter(isLive).length;
    sum.cpuMillis += node.allocatable.cpuMillis;
    sum.memoryBytes += node.allocatable.memoryBytes;
    sum.cpuRequested += requested.cpuMillis;
    sum.memoryRequested += requested.memoryBytes;
  }
  return [...sums.values()].filter(({ nodes }) => nodes > 0);
}

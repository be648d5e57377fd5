/** Which pod of the excess side is moved. */
import { ascending } from '../../lib/ascending.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import type { PodRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import type { PlannedPod } from './plan.ts';

/**
 * Why a pod is not a good victim; the guards know the same rules and have the last word. Asked here, too, so that one
 * spared pod does not hold up a move that another could make (Spotalis B21).
 */
export function whySpared(view: ClusterView, sides: Sides, pod: PodRecord): string | undefined {
  if (pod.protectedBy !== undefined) return `protected by ${pod.protectedBy}`;
  if (pod.resizing) return 'being resized';
  const node = pod.nodeName === undefined ? undefined : view.node(pod.nodeName);
  if (node === undefined) return undefined;
  const cause = sides.leavingCause(node);
  if (cause !== undefined) return `its node is leaving (${cause})`;
  return node.ready ? undefined : 'its node is not ready';
}

/**
 * The order in which candidates are moved: those nothing spares, then those that are not where their own slot is (the
 * replacement of a pod that is takes that very slot again, so nothing would have moved), then unready (they serve
 * nobody), then temporary cover, then without a slot of their own, then the highest slot, then the youngest. Ties fall
 * to the name, so equal input gives equal output.
 */
export function compareVictims(view: ClusterView, sides: Sides): (a: PlannedPod, b: PlannedPod) => number {
  const isSpared = (pod: PodRecord): number => (whySpared(view, sides, pod) === undefined ? 0 : 1);
  const isInPlace = ({ plan: { state, slot, stampedSlot } }: PlannedPod): number =>
    state === 'settled' && slot !== undefined && slot === stampedSlot ? 1 : 0;
  return (a, b) =>
    isSpared(a.pod) - isSpared(b.pod) ||
    isInPlace(a) - isInPlace(b) ||
    Number(a.pod.ready) - Number(b.pod.ready) ||
    Number(b.pod.fallback) - Number(a.pod.fallback) ||
    Number(a.plan.stampedSlot !== undefined) - Number(b.plan.stampedSlot !== undefined) ||
    (b.plan.stampedSlot ?? 0) - (a.plan.stampedSlot ?? 0) ||
    b.pod.createdAt - a.pod.createdAt ||
    ascending(a.pod.name, b.pod.name);
}

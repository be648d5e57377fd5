/**
 * Nodes as far as pods tell of them, where nodes may not be read: the scheduler put a pod that is pinned to a side on a
 * node of that side. Other nodes stay unknown, so they never count for the floor; room is never proved, so moves need
 * an autoscaler.
 */
import type { Informer } from '../kube/informer.ts';
import { hasEnded } from '../model/owners.ts';
import type { SidePin } from '../model/placement-settings.ts';
import type { Labels, NodeRecord, PodRecord, Side } from '../model/records.ts';
import type { Sides } from '../model/sides.ts';
import { createAssumedInformer } from './assumed-informer.ts';

/**
 * Follows `pods` from now on. A node is forgotten with the last of our pods on it; it is ready as long as it is known,
 * as nothing else can be said.
 */
export function inferNodes(pods: Informer<PodRecord>, sides: Sides): Informer<NodeRecord> {
  const nodes = createAssumedInformer<NodeRecord>();
  const podsOn = new Map<string, Set<string>>();

  const leave = ({ nodeName, uid }: PodRecord): void => {
    const onNode = nodeName === undefined ? undefined : podsOn.get(nodeName);
    if (nodeName === undefined || onNode === undefined) return;
    onNode.delete(uid);
    if (onNode.size > 0) return;
    podsOn.delete(nodeName);
    if (nodes.store.has(nodeName)) nodes.put(nodeName, undefined);
  };
  /** A pinned pod that was bound proves the side of its node. Pods without a pin prove nothing. */
  const arrive = (pod: PodRecord): void => {
    const { nodeName, uid } = pod;
    if (nodeName === undefined) return;
    const onNode = podsOn.get(nodeName) ?? new Set();
    podsOn.set(nodeName, onNode.add(uid));
    const side = sides.pinnedSide(pod.template);
    if (side !== 'spot' && side !== 'on-demand') return;
    const known = nodes.store.get(nodeName);
    // What the last pod proves counts: a machine may come back under the name of another.
    if (known !== undefined && sides.classOf(known) === side) return;
    const node = nodeOf(nodeName, side, sides);
    if (sides.classOf(node) === side) nodes.put(nodeName, node);
  };

  pods.subscribe({
    onChange(_, before, after) {
      if (before !== undefined && (before.uid !== after?.uid || before.nodeName !== after.nodeName)) leave(before);
      if (after !== undefined && (before?.uid !== after.uid || before.nodeName !== after.nodeName)) arrive(after);
    },
  });
  return nodes;
}

/** The same of pods at one moment. A node of which they tell both sides is left out. */
export function nodesToldBy(pods: Iterable<PodRecord>, sides: Sides): NodeRecord[] {
  const told = new Map<string, Set<Side>>();
  for (const pod of pods) {
    const { nodeName, template } = pod;
    const side = sides.pinnedSide(template);
    if (nodeName === undefined || hasEnded(pod) || (side !== 'spot' && side !== 'on-demand')) continue;
    told.set(nodeName, (told.get(nodeName) ?? new Set()).add(side));
  }
  return [...told].flatMap(([name, [side, ...others]]) => {
    if (side === undefined || others.length > 0) return [];
    const node = nodeOf(name, side, sides);
    return sides.classOf(node) === side ? [node] : [];
  });
}

function nodeOf(name: string, side: Side, sides: Sides): NodeRecord {
  return {
    name,
    uid: `inferred/${name}/${side}`,
    labels: labelsOf(sides.pinOf(side)),
    taints: [],
    ready: true,
    unschedulable: false,
    deleting: false,
    allocatable: { cpuMillis: 0, memoryBytes: 0 },
    maxPods: 0,
    createdAt: 0,
  };
}

/** Labels that satisfy the pin. A pin by absence is satisfied by none. */
function labelsOf(pin: SidePin): Labels {
  if (pin.kind === 'nodeSelector') return { [pin.key]: pin.value };
  const labels: Record<string, string> = {};
  for (const { key, operator, values } of pin.terms[0]?.expressions ?? []) {
    if (operator === 'In') labels[key] = values[0] ?? '';
    else if (operator === 'Exists') labels[key] = '';
  }
  return labels;
}

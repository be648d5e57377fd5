/** The most a single pod of a workload could get on any node it may use: what is left where nothing but DaemonSets runs. */
import type { Bytes, Millicores } from '../../lib/units.ts';
import { admitsNode, toleratesAll } from '../../model/node-fit.ts';
import { hasEnded } from '../../model/owners.ts';
import type { ComputeResources, NodeRecord, PodRecord, PodTemplate, Taint } from '../../model/records.ts';
import type { SizingView } from '../../model/sizing-view.ts';

/** CPU and memory of a pod have to be there on one node: how much there is of the one depends on the other. */
export interface NodeRoom {
  /** The most of a node that has so much memory as well; where none has, the most there is. */
  cpuBeside(memoryBytes: Bytes): Millicores;
  memoryBeside(cpuMillis: Millicores): Bytes;
}

/**
 * Of the nodes that the pods may use by labels and taints. Where they may use different ones, as those on spot and on
 * on-demand do, the size has to fit all of them: the least is said. Where none of the nodes is for them, one is yet to be
 * made: all nodes count. Undefined where no node is known, as with rights for single namespaces only.
 */
export type LargestNode = (pods: Iterable<{ readonly pod: PodRecord }>) => NodeRoom | undefined;

/** Of each node what it has for a pod, without those that have no more of anything than another one. */
type Rooms = readonly ComputeResources[];

/** Of one moment, for the workloads of one pass: what was found for one pod is not looked for again for its like. */
export function largestNode(view: Pick<SizingView, 'nodes' | 'podsOnNode'>): LargestNode {
  const nodes = [...view.nodes()].filter(({ labels, deleting }) => !deleting && labels['type'] !== 'virtual-kubelet');
  const rooms = new Map<NodeRecord, ComputeResources>();
  /** By what of a template says which nodes it may use: pods that were resized have templates of their own, and share it. */
  const found = new Map<string, Rooms>();
  const partIds = new Map<object | undefined, number>();
  let everywhere: Rooms | undefined;

  const roomOn = (node: NodeRecord): ComputeResources => {
    const room = rooms.get(node) ?? roomBesideDaemonSets(view, node);
    rooms.set(node, room);
    return room;
  };
  const roomsWhere = (isFor: (node: NodeRecord) => boolean, roomOf = roomOn): Rooms => {
    let largest: Rooms = [];
    for (const node of nodes) {
      if (largest.some((each) => isWithin(node.allocatable, each)) || !isFor(node)) continue;
      const room = roomOf(node);
      if (room.cpuMillis <= 0 || room.memoryBytes <= 0 || largest.some((each) => isWithin(room, each))) continue;
      largest = [...largest.filter((each) => !isWithin(each, room)), room];
    }
    return largest;
  };
  const roomsEverywhere = (): Rooms => {
    everywhere ??= roomsWhere(isAny);
    return everywhere;
  };
  const idOf = (part: object | undefined): number => {
    const id = partIds.get(part) ?? partIds.size;
    partIds.set(part, id);
    return id;
  };
  const roomsFor = (template: PodTemplate): Rooms => {
    const { nodeSelector, requiredNodeTerms, tolerations } = template;
    const key = `${idOf(nodeSelector)} ${idOf(requiredNodeTerms)} ${idOf(tolerations)}`;
    const known =
      found.get(key) ?? roomsWhere((node) => admitsNode(template, node) && toleratesAll(tolerations, lasting(node)));
    found.set(key, known);
    return known;
  };

  return (pods) => {
    const own = new Set<Rooms>();
    /** Of a DaemonSet, by node: what it takes itself is not taken from it. */
    const held = new Map<string, ComputeResources>();
    for (const { pod } of pods) {
      // Each pod of a DaemonSet is for one node, which says nothing about the others.
      if (pod.owner?.kind === 'DaemonSet') {
        const node = pod.nodeName ?? '';
        held.set(node, plus(held.get(node), pod.template.requests));
      }
      if (hasEnded(pod) || pod.deletingAt !== undefined || pod.owner?.kind === 'DaemonSet') continue;
      const forPod = roomsFor(pod.template);
      if (forPod.length > 0) own.add(forPod);
    }
    if (own.size > 0) return nodeRoom([...own]);
    const rooms =
      held.size === 0 ? roomsEverywhere() : roomsWhere(isAny, (node) => plus(held.get(node.name), roomOn(node)));
    return rooms.length === 0 ? undefined : nodeRoom([rooms]);
  };
}

/** @param kinds for each kind of pod what the nodes have that it may use; none is empty. */
export function nodeRoom(kinds: readonly Rooms[]): NodeRoom {
  const leastOf = (resource: keyof ComputeResources, fits: (room: ComputeResources) => boolean): number =>
    Math.min(
      ...kinds.map((rooms) => {
        const fitting = rooms.filter(fits);
        return Math.max(...(fitting.length > 0 ? fitting : rooms).map((room) => room[resource]));
      }),
    );
  return {
    cpuBeside: (memoryBytes) => leastOf('cpuMillis', (room) => room.memoryBytes >= memoryBytes),
    memoryBeside: (cpuMillis) => leastOf('memoryBytes', (room) => room.cpuMillis >= cpuMillis),
  };
}

const isAny = (): boolean => true;

function plus(a: ComputeResources | undefined, b: ComputeResources): ComputeResources {
  return a === undefined ? b : { cpuMillis: a.cpuMillis + b.cpuMillis, memoryBytes: a.memoryBytes + b.memoryBytes };
}

function isWithin(a: ComputeResources, b: ComputeResources): boolean {
  return a.cpuMillis <= b.cpuMillis && a.memoryBytes <= b.memoryBytes;
}

function roomBesideDaemonSets(
  view: Pick<SizingView, 'podsOnNode'>,
  { name, allocatable }: NodeRecord,
): ComputeResources {
  let { cpuMillis, memoryBytes } = allocatable;
  for (const { pod } of view.podsOnNode(name)) {
    if (pod.owner?.kind !== 'DaemonSet') continue;
    cpuMillis -= pod.template.requests.cpuMillis;
    memoryBytes -= pod.template.requests.memoryBytes;
  }
  return { cpuMillis, memoryBytes };
}

/** Not ready, under pressure, cordoned: the node controller takes those away when they pass. */
function lasting({ taints }: NodeRecord): readonly Taint[] {
  return taints.some(isOfCondition) ? taints.filter((taint) => !isOfCondition(taint)) : taints;
}

function isOfCondition({ key }: Taint): boolean {
  return key.startsWith('node.kubernetes.io/');
}

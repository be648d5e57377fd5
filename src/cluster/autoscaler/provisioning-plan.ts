/** Which machines to ask for so that the waiting pods find a place: a simulation of the scheduler on nodes to come. Pure. */
import type { Node, PersistentVolume, Pod } from '../../api/core.ts';
import { ascending } from '../../lib/ascending.ts';
import { nodeObject } from '../kubelet/node-object.ts';
import { nameOf, timeOf } from '../objects.ts';
import type { ClusterState, NodeState } from '../scheduler/cluster-state.ts';
import { createPodFilter, refuseUnsuitableNode } from '../scheduler/filters.ts';
import type { PodInfo } from '../scheduler/pod-info.ts';
import { type NodePool, nodeSpecOf } from './node-pool.ts';

/** What one pass looks at and may ask for. `request` is the only member with an effect. */
export interface PlanInput {
  /** The nodes and the pods on them. Given back as it was. */
  readonly cluster: ClusterState;
  /** Pods no node can take at present. */
  readonly pending: readonly Pod[];
  /** Nodes asked for that have not joined yet. */
  readonly inFlight: readonly Node[];
  /** One pod of each DaemonSet: new nodes will have to hold those they admit. */
  readonly daemons: readonly Pod[];
  readonly pools: readonly NodePool[];
  /** Present and coming nodes of a pool. */
  readonly countOf: (pool: string) => number;
  /** Tries to get a machine; called only for one that is needed. */
  readonly request: (pool: NodePool, zone: string) => boolean;
  readonly isWorthAsking: (pool: string, zone: string) => boolean;
  readonly volumesOf: (info: PodInfo) => readonly PersistentVolume[] | undefined;
  readonly nextName: (pool: NodePool) => string;
  /** {@link podInfoOf}, or one that remembers: a pass looks at all pods, and most of them are as they were at the last one. */
  readonly infoOf: (pod: Pod) => PodInfo;
  readonly nowMillis: number;
}

export interface Launch {
  readonly pool: NodePool;
  readonly zone: string;
  readonly node: Node;
}

/** Large pods first, as bin packing wants it; the cheapest pool that can take a pod is asked first. */
export function planLaunches(input: PlanInput): Launch[] {
  const { infoOf } = input;
  const cluster = createTrial(input.cluster);
  const pools = [...input.pools].sort((left, right) => left.pricePerHour - right.pricePerHour);
  const pass: Pass = { ...input, cluster, pools, daemons: input.daemons.map(infoOf), launches: [] };
  for (const node of input.inFlight) join(node, pass);
  for (const info of input.pending.map(infoOf).sort(largestFirst)) {
    const volumes = input.volumesOf(info);
    if (volumes === undefined) continue;
    const waiting = { info, volumes };
    if (!placeOnExisting(waiting, cluster)) launchFor(waiting, pass);
  }
  cluster.undo();
  return pass.launches;
}

/** The input made ready, and what is asked for so far. */
interface Pass extends Omit<PlanInput, 'daemons'> {
  /** In the order of price. */
  readonly pools: readonly NodePool[];
  readonly daemons: readonly PodInfo[];
  readonly launches: Launch[];
}

/** A pod and where its volumes are. */
interface Waiting {
  readonly info: PodInfo;
  readonly volumes: readonly PersistentVolume[];
}

/** `cluster` to try things in, which `undo` takes back: pods put there are new to it, nodes may be there already. */
function createTrial(cluster: ClusterState): ClusterState & { undo(): void } {
  const pods = new Set<string>();
  const nodesBefore = new Map<string, Node | undefined>();
  return {
    ...cluster,
    get nodeCount() {
      return cluster.nodeCount;
    },
    putNode(node) {
      const name = nameOf(node);
      if (!nodesBefore.has(name)) nodesBefore.set(name, cluster.node(name)?.node);
      cluster.putNode(node);
    },
    putPod(info, nodeName) {
      pods.add(info.uid);
      cluster.putPod(info, nodeName);
    },
    undo() {
      for (const uid of pods) cluster.removePod(uid);
      for (const [name, before] of nodesBefore) {
        if (before === undefined) cluster.removeNode(name);
        else cluster.putNode(before);
      }
    },
  };
}

function placeOnExisting({ info, volumes }: Waiting, cluster: ClusterState): boolean {
  const refuse = createPodFilter(info, cluster, volumes);
  for (const state of cluster.nodes()) {
    if (refuse(state) !== undefined) continue;
    cluster.putPod(info, state.name);
    return true;
  }
  return false;
}

function launchFor(waiting: Waiting, pass: Pass): void {
  const { cluster, launches, nowMillis } = pass;
  for (const pool of pass.pools) {
    const planned = launches.filter((launch) => launch.pool === pool).length;
    if (pass.countOf(pool.name) + planned >= (pool.maxNodes ?? Number.POSITIVE_INFINITY)) continue;
    for (const zone of emptiestFirst(pool, cluster)) {
      if (!pass.isWorthAsking(pool.name, zone)) continue;
      const candidate = nodeObject(nodeSpecOf(pool, zone, `${pool.name}-candidate`), nowMillis);
      if (!wouldTake(waiting, candidate, pass)) continue;
      if (!pass.request(pool, zone)) continue;
      const node = nodeObject(nodeSpecOf(pool, zone, pass.nextName(pool)), nowMillis);
      join(node, pass);
      cluster.putPod(waiting.info, nameOf(node));
      launches.push({ pool, zone, node });
      return;
    }
  }
}

/** Tried in the cluster, not beside it: a new node may be a new domain for spread constraints. */
function wouldTake({ info, volumes }: Waiting, candidate: Node, pass: Pass): boolean {
  const { cluster } = pass;
  const state = join(candidate, pass);
  const isTaken = state !== undefined && createPodFilter(info, cluster, volumes)(state) === undefined;
  for (const uid of state?.pods.keys() ?? []) cluster.removePod(uid);
  cluster.removeNode(nameOf(candidate));
  return isTaken;
}

/** A node to come, with the daemons that will run on it. */
function join(node: Node, { cluster, daemons }: Pass): NodeState | undefined {
  const name = nameOf(node);
  cluster.putNode(node);
  const state = cluster.node(name);
  if (state === undefined) return undefined;
  for (const daemon of daemons) {
    if (refuseUnsuitableNode(daemon)(state) === undefined)
      cluster.putPod({ ...daemon, uid: `${daemon.uid}/${name}` }, name);
  }
  return state;
}

/** Zones in the order of how few nodes of the pool they have, so that capacity spreads. */
function emptiestFirst(pool: NodePool, cluster: ClusterState): readonly string[] {
  if (pool.zones.length <= 1) return pool.zones;
  const counts = new Map(pool.zones.map((zone) => [zone, 0]));
  for (const { node, name } of cluster.nodes()) {
    const zone = node.metadata?.labels?.['topology.kubernetes.io/zone'] ?? '';
    const count = counts.get(zone);
    if (count !== undefined && name.startsWith(`${pool.name}-`)) counts.set(zone, count + 1);
  }
  return [...pool.zones].sort((left, right) => (counts.get(left) ?? 0) - (counts.get(right) ?? 0));
}

function largestFirst(left: PodInfo, right: PodInfo): number {
  return (
    (right.requests.get('cpu') ?? 0) - (left.requests.get('cpu') ?? 0) ||
    (right.requests.get('memory') ?? 0) - (left.requests.get('memory') ?? 0) ||
    (timeOf(left.pod.metadata?.creationTimestamp) ?? 0) - (timeOf(right.pod.metadata?.creationTimestamp) ?? 0) ||
    ascending(left.uid, right.uid)
  );
}

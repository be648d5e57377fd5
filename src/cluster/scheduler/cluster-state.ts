/** The scheduler's picture of the nodes and of what runs (or is about to run) on them, with counts kept up to date. */
import type { KubeObject, Node } from '../../api/core.ts';
import { type LabelMatcher, matcherOf, selectorRequirements } from '../../api/label-selector.ts';
import { controllerOf, nameOf, namespaceOf } from '../objects.ts';
import { type Amounts, amountsOf } from '../pod-requests.ts';
import { type AffinityTerm, type PodGroup, type PodInfo, selectorGroup } from './pod-info.ts';

/** `requested` and `pods` change in place while the node is known. */
export interface NodeState {
  readonly name: string;
  readonly node: Node;
  readonly allocatable: Amounts;
  /** Sums of the requests of its pods. */
  readonly requested: Map<string, number>;
  /** By uid. */
  readonly pods: Map<string, PodInfo>;
}

/** Assumed pods count from the moment a node is chosen for them, so two decisions never share the same room. */
export interface ClusterState {
  nodes(): Iterable<NodeState>;
  node(name: string): NodeState | undefined;
  readonly nodeCount: number;
  putNode(node: Node): void;
  removeNode(name: string): void;
  /** Puts a pod on a node, replacing what was known of it. Nodes not known yet are remembered. */
  putPod(info: PodInfo, nodeName: string): void;
  removePod(uid: string): void;
  nodeOf(uid: string): string | undefined;
  /** How many pods of a group each node has; nodes without any are absent. */
  countsOf(group: PodGroup): ReadonlyMap<string, number>;
  /** The pods a term is about, in the namespaces that it means at present. */
  groupOf(term: AffinityTerm): PodGroup;
  /** Pods with required anti-affinity, which also binds those that come later. */
  podsWithAntiAffinity(): Iterable<{ readonly info: PodInfo; readonly nodeName: string }>;
}

interface Placement {
  readonly info: PodInfo;
  readonly nodeName: string;
}

interface GroupCounts {
  readonly group: PodGroup;
  readonly matches: (info: PodInfo) => boolean;
  readonly byNode: Map<string, number>;
}

/**
 * Pods may be told before their node; they count as soon as it comes.
 * @param namespaces all there are, for terms that select some of them.
 */
export function createClusterState(namespaces: () => Iterable<KubeObject> = () => []): ClusterState {
  const nodes = new Map<string, NodeState>();
  const placements = new Map<string, Placement>();
  const withAntiAffinity = new Map<string, Placement>();
  const groups = new Map<string, GroupCounts>();
  const byController = new Map<string, GroupCounts>();
  const byNamespace = new Map<string, Set<GroupCounts>>();

  /** The groups a pod can belong to; with a thousand workloads nearly all others are ruled out by their key alone. */
  const groupsFor = function* (info: PodInfo): Iterable<GroupCounts> {
    const owned = byController.get(controllerOf(info.pod)?.uid ?? '');
    if (owned !== undefined) yield owned;
    yield* byNamespace.get(namespaceOf(info.pod)) ?? [];
  };

  const remember = (group: PodGroup, counts: GroupCounts): void => {
    groups.set(group.key, counts);
    if (group.controllerUid !== undefined) byController.set(group.controllerUid, counts);
    else
      for (const namespace of group.namespaces)
        byNamespace.set(namespace, (byNamespace.get(namespace) ?? new Set()).add(counts));
  };

  const forgetGroup = (key: string): void => {
    const counts = groups.get(key);
    if (counts === undefined) return;
    groups.delete(key);
    const { controllerUid, namespaces } = counts.group;
    if (controllerUid !== undefined) byController.delete(controllerUid);
    else for (const namespace of namespaces) byNamespace.get(namespace)?.delete(counts);
  };

  const account = ({ info, nodeName }: Placement, sign: 1 | -1): void => {
    const state = nodes.get(nodeName);
    if (state !== undefined) {
      if (sign === 1) state.pods.set(info.uid, info);
      else state.pods.delete(info.uid);
      for (const [name, amount] of info.requests) {
        state.requested.set(name, (state.requested.get(name) ?? 0) + sign * amount);
      }
    }
    for (const group of groupsFor(info)) if (group.matches(info)) increment(group.byNode, nodeName, sign);
  };

  const removePod = (uid: string): void => {
    const placement = placements.get(uid);
    if (placement === undefined) return;
    placements.delete(uid);
    withAntiAffinity.delete(uid);
    account(placement, -1);
  };

  return {
    nodes: () => nodes.values(),
    node: (name) => nodes.get(name),
    get nodeCount() {
      return nodes.size;
    },
    putNode(node) {
      const name = nameOf(node);
      const known = nodes.get(name);
      const requested = known?.requested ?? new Map<string, number>();
      const pods = known?.pods ?? new Map<string, PodInfo>();
      nodes.set(name, { name, node, allocatable: amountsOf(node.status?.allocatable), requested, pods });
      if (known !== undefined) return;
      for (const { info, nodeName } of placements.values()) {
        if (nodeName !== name) continue;
        pods.set(info.uid, info);
        for (const [resource, amount] of info.requests)
          requested.set(resource, (requested.get(resource) ?? 0) + amount);
      }
    },
    removeNode: (name) => {
      nodes.delete(name);
    },
    putPod(info, nodeName) {
      removePod(info.uid);
      const placement = { info, nodeName };
      placements.set(info.uid, placement);
      if (info.antiAffinity.length > 0) withAntiAffinity.set(info.uid, placement);
      account(placement, 1);
    },
    removePod,
    nodeOf: (uid) => placements.get(uid)?.nodeName,
    countsOf(group) {
      const known = groups.get(group.key);
      if (known !== undefined) return known.byNode;
      const created: GroupCounts = { group, matches: groupMatcher(group), byNode: new Map() };
      for (const { info, nodeName } of placements.values()) {
        if (created.matches(info)) increment(created.byNode, nodeName, 1);
      }
      remember(group, created);
      // Selectors of past revisions would pile up; what is still needed is counted again.
      if (groups.size > MAX_GROUPS) {
        const oldest = groups.keys().next().value;
        if (oldest !== undefined) forgetGroup(oldest);
      }
      return created.byNode;
    },
    groupOf({ group, namespaceSelector }) {
      if (namespaceSelector === undefined) return group;
      const matches = matcherOf(selectorRequirements(namespaceSelector));
      const selected = [...namespaces()].filter(({ metadata }) => matches(metadata?.labels)).map(nameOf);
      const meant = [...new Set([...group.namespaces, ...selected])].sort();
      return selectorGroup(meant, group.selector, group.countsTerminating);
    },
    podsWithAntiAffinity: () => withAntiAffinity.values(),
  };
}

const MAX_GROUPS = 4000;

function increment(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** Whether a pod belongs to a group. */
export function groupMatcher(group: PodGroup): (info: PodInfo) => boolean {
  const { controllerUid, namespaces, selector, countsTerminating } = group;
  const isCounted = ({ pod }: PodInfo): boolean => countsTerminating || pod.metadata?.deletionTimestamp === undefined;
  if (controllerUid !== undefined) return (info) => isCounted(info) && controllerOf(info.pod)?.uid === controllerUid;
  const matches: LabelMatcher = selector === undefined ? () => false : matcherOf(selectorRequirements(selector));
  return (info) => isCounted(info) && namespaces.includes(namespaceOf(info.pod)) && matches(info.pod.metadata?.labels);
}

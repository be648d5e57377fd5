/**
 * Whether a pod could run somewhere: a conservative part of the scheduler's filters, to prove a place before a move.
 */
import { meets } from '../api/label-selector.ts';
import type { ClusterView } from './cluster-view.ts';
import { judgeCompany, needsKnownNode, sharesMachine } from './company.ts';
import { termsOf } from './node-profiles.ts';
import type { Labels, NodeRecord, NodeSelectorTerm, PodTemplate, Side, Taint, Toleration } from './records.ts';
import { isEmptyTerm } from './side-pin.ts';
import type { Sides } from './sides.ts';
import { namesNodes } from './volume-reach.ts';

/** What must be placed. */
export interface RoomRequest {
  readonly namespace: string;
  /** The template as the user wrote it: without the pin of either side. */
  readonly template: PodTemplate;
  readonly side: Side;
  /** Names of its PersistentVolumeClaims. */
  readonly claims: readonly string[];
  /**
   * Nodes that run a pod of the same workload: left out where the template has anti-affinity or spread rules, as on
   * any other node requests alone prove nothing.
   */
  readonly siblingNodes: ReadonlySet<string>;
}

/** Where there is room. */
export type Room =
  /** This node has it now. */
  | { readonly kind: 'node'; readonly node: string }
  /** No node was proved, but an autoscaler makes nodes of this side. */
  | { readonly kind: 'provisionable' }
  /** `detail` is for people; `isVolume` when a bound volume leaves no node. */
  | { readonly kind: 'none'; readonly detail: string; readonly isVolume: boolean };

type Misfit = 'capacity' | 'taint' | 'labels' | 'volume' | 'room' | 'unseen' | 'siblings' | 'company';

const misfitTexts: Readonly<Record<Misfit, string>> = {
  capacity: 'not ready, cordoned or leaving',
  taint: 'tainted',
  labels: 'excluded by the node selector or affinity of the pod',
  volume: 'outside the reach of the pod’s volume',
  room: 'without room for its requests',
  unseen: 'with other pods than are seen here, so what they have left is not known',
  siblings: 'running a pod of the workload already, which its placement rules may forbid',
  company: 'where its affinity or anti-affinity to other pods may keep it from',
};

/**
 * Looks for a place on `request.side`. The first node found is named; which one the scheduler takes is its own
 * business.
 */
export function findRoom(view: ClusterView, sides: Sides, request: RoomRequest): Room {
  const volumeTerms = volumeTermsOf(view, request);
  if (volumeTerms === undefined) {
    return { kind: 'none', detail: 'a volume claim of the pod is not known', isVolume: true };
  }
  if (volumeTerms.some((terms) => terms.length === 0)) {
    return { kind: 'none', detail: 'where a volume of the pod can be reached is not known', isVolume: true };
  }
  const pinned = sides.pinnedSide(request.template);
  if (pinned !== 'free' && pinned !== request.side) {
    return { kind: 'none', detail: `the pod template itself excludes ${request.side} nodes`, isVolume: false };
  }
  const demand: Demand = {
    ...request,
    tolerations: [...request.template.tolerations, ...sides.tolerationsOf(request.side)],
    pinTerms: termsOf(sides.pinOf(request.side)),
    volumeTerms,
    isBadCompany: judgeCompany(view, request),
  };
  const misfits = new Map<Misfit, number>();
  for (const node of view.nodes()) {
    if (sides.classOf(node) !== request.side) continue;
    const misfit = sides.isCapacity(node) ? misfitOf(view, node, demand) : 'capacity';
    if (misfit === undefined) return { kind: 'node', node: node.name };
    misfits.set(misfit, (misfits.get(misfit) ?? 0) + 1);
  }
  // A node that is yet to be made is none of those that a local volume names.
  const isLocal = volumeTerms.some(namesNodes);
  if (sides.isProvisionable(request.side) && !isLocal && !needsKnownNode(request)) return { kind: 'provisionable' };
  const isVolume = misfits.has('volume') || isLocal;
  return { kind: 'none', detail: describeMisfits(misfits, request.side), isVolume };
}

interface Demand extends RoomRequest {
  readonly tolerations: readonly Toleration[];
  readonly pinTerms: readonly NodeSelectorTerm[];
  /** One entry a bound volume; all must hold. */
  readonly volumeTerms: readonly (readonly NodeSelectorTerm[])[];
  readonly isBadCompany: (node: NodeRecord) => boolean;
}

function misfitOf(view: ClusterView, node: NodeRecord, demand: Demand): Misfit | undefined {
  if (!toleratesAll(demand.tolerations, node.taints)) return 'taint';
  if (!admitsNode(demand.template, node) || !matchesNodeTerms(demand.pinTerms, node)) return 'labels';
  if (!demand.volumeTerms.every((terms) => matchesNodeTerms(terms, node))) return 'volume';
  if (view.requestedOnNode(node.name).isPartial === true) return 'unseen';
  if (!hasRoomFor(view, node, demand.template)) return 'room';
  if (demand.isBadCompany(node)) return 'company';
  // Who is to share a machine with its like is judged by that rule alone.
  const isCrowded = demand.template.hasPodPlacementRules && demand.siblingNodes.has(node.name);
  return isCrowded && !sharesMachine(demand.template) ? 'siblings' : undefined;
}

/** The node affinities of the bound volumes, or undefined when a claim is not in the view. */
function volumeTermsOf(view: ClusterView, request: RoomRequest): (readonly NodeSelectorTerm[])[] | undefined {
  const terms: (readonly NodeSelectorTerm[])[] = [];
  for (const name of request.claims) {
    const claim = view.volumeClaim(request.namespace, name);
    if (claim === undefined) return undefined;
    // An unbound claim is bound where the pod goes.
    if (claim.requiredNodeTerms !== undefined) terms.push(claim.requiredNodeTerms);
  }
  return terms;
}

function describeMisfits(misfits: ReadonlyMap<Misfit, number>, side: Side): string {
  if (misfits.size === 0) return `there is no ${side} node`;
  return [...misfits].map(([misfit, count]) => `${count} ${misfitTexts[misfit]}`).join(', ');
}

/** Whether the template's requests are known to fit beside what runs on the node already. */
export function hasRoomFor(view: ClusterView, node: NodeRecord, template: PodTemplate): boolean {
  const used = view.requestedOnNode(node.name);
  const { allocatable, maxPods } = node;
  return (
    used.isPartial !== true &&
    used.pods + 1 <= maxPods &&
    used.cpuMillis + template.requests.cpuMillis <= allocatable.cpuMillis &&
    used.memoryBytes + template.requests.memoryBytes <= allocatable.memoryBytes
  );
}

/** Whether nodeSelector and required node affinity of a template admit the node. */
export function admitsNode(
  template: Pick<PodTemplate, 'nodeSelector' | 'requiredNodeTerms'>,
  node: NodeRecord,
): boolean {
  for (const [key, value] of Object.entries(template.nodeSelector)) if (node.labels[key] !== value) return false;
  return template.requiredNodeTerms === undefined || matchesNodeTerms(template.requiredNodeTerms, node);
}

/** Whether one of the ORed terms holds for the node; an empty term never does. */
export function matchesNodeTerms(
  terms: readonly NodeSelectorTerm[],
  node: Pick<NodeRecord, 'name' | 'labels'>,
): boolean {
  const fields: Labels = { 'metadata.name': node.name };
  return terms.some(
    (term) =>
      !isEmptyTerm(term) &&
      term.expressions.every((expression) => meets(node.labels, expression)) &&
      term.fields.every((field) => meets(fields, field)),
  );
}

/** Whether every taint that keeps pods off is tolerated; PreferNoSchedule keeps none off. */
export function toleratesAll(tolerations: readonly Toleration[], taints: readonly Taint[]): boolean {
  return taints.every(
    (taint) => taint.effect === 'PreferNoSchedule' || tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** Source: kubernetes core/v1 toleration.go, ToleratesTaint. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== '' && toleration.effect !== taint.effect) return false;
  if (toleration.key !== '' && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  // An empty key with Equal is refused by the API; it tolerates nothing here.
  return toleration.key !== '' && toleration.value === taint.value;
}

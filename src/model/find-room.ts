/**
 * Whether a pod could run somewhere: a conservative part of the scheduler's filters, to prove a place before a move.
 */
import type { ClusterView } from './cluster-view.ts';
import { admitsNode, matchesNodeTerms, toleratesAll } from './node-fit.ts';
import { termsOf } from './node-profiles.ts';
import { hasEnded } from './owners.ts';
import { judgePodAffinity, needsKnownNode } from './pod-affinity.ts';
import type { NodeRecord, NodeSelectorTerm, PodRecord, PodTemplate, Side, Toleration } from './records.ts';
import type { Sides } from './sides.ts';
import { judgeSpread, type SpreadJudge } from './spread.ts';
import { namesNodes } from './volume-reach.ts';

/** What must be placed. */
export interface RoomRequest {
  readonly namespace: string;
  /** As it is before it is steered: without the pin of either side. */
  readonly template: PodTemplate;
  /** Required node affinity that must hold beside that of the template; left out: there is none. */
  readonly besideTerms?: readonly NodeSelectorTerm[] | undefined;
  readonly side: Side;
  /** Names of its PersistentVolumeClaims. */
  readonly claims: readonly string[];
  /** See {@link judgePodAffinity}. */
  readonly siblingNodes: ReadonlySet<string>;
  readonly endingNodes?: ReadonlySet<string> | undefined;
  /** The pod whose place it takes. Left out, topology spread is not asked: it depends on who is there. */
  readonly leaving?: Pick<PodRecord, 'uid' | 'template' | 'nodeName'> | undefined;
  /** Pods to come that have no node yet and may take any room of the side first; left out, there are none. */
  readonly awaited?: readonly PodTemplate[] | undefined;
  /** So many of its like come first, each to where there is a place; default 0. */
  readonly ahead?: number;
}

/** Where there is room. */
export type Room =
  /** This node has it now. */
  | { readonly kind: 'node'; readonly node: string }
  /** No node was proved, but an autoscaler makes nodes of this side. */
  | { readonly kind: 'provisionable' }
  /**
   * `detail` is for people; `isVolume` when a bound volume leaves no node, `isAwaited` when pods to come may take the
   * room that there is.
   */
  | { readonly kind: 'none'; readonly detail: string; readonly isVolume: boolean; readonly isAwaited?: true };

type Misfit =
  | 'capacity'
  | 'taint'
  | 'labels'
  | 'volume'
  | 'room'
  | 'awaited'
  | 'unseen'
  | 'affinity'
  | 'spread'
  | 'devices';

const misfitTexts: Readonly<Record<Misfit, string>> = {
  capacity: 'not ready, cordoned or leaving',
  taint: 'tainted',
  labels: 'excluded by the node selector or affinity of the pod',
  volume: 'outside the reach of the pod’s volume',
  room: 'without room for its requests',
  awaited: 'with room that pods on their way may take',
  unseen: 'with other pods than are seen here, so what they have left is not known',
  affinity: 'where its affinity or anti-affinity to other pods may keep it from',
  spread: 'where its topology spread constraints allow no further pod',
  devices: 'where the devices that it claims may be missing',
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
  const tolerations = [...request.template.tolerations, ...sides.tolerationsOf(request.side)];
  const demand = demandOf(view, request, tolerations, termsOf(sides.pinOf(request.side)), volumeTerms);
  const misfits = new Map<Misfit, number>();
  const known: NodeRecord[] = [];
  let { ahead = 0 } = request;
  for (const node of view.nodes()) {
    if (sides.classOf(node) !== request.side) continue;
    known.push(node);
    let misfit = sides.isCapacity(node) ? misfitOf(view, node, demand) : 'capacity';
    if (misfit === undefined) {
      const places = ahead === 0 ? 1 : placesOn(view, node, request.template);
      if (places > ahead) return { kind: 'node', node: node.name };
      ahead -= places;
      misfit = 'awaited';
    }
    misfits.set(misfit, (misfits.get(misfit) ?? 0) + 1);
  }
  // A node that is yet to be made is none of those that a local volume names.
  const isLocal = volumeTerms.some(namesNodes);
  const isVolume = misfits.has('volume') || isLocal;
  const detail = describeMisfits(misfits, request.side);
  if (!sides.isProvisionable(request.side) || isLocal || needsKnownNode(request) || demand.lacksProof)
    return { kind: 'none', detail, isVolume, ...(misfits.has('awaited') && { isAwaited: true }) };
  if (!demand.spread.isUnevenBeside(known)) return { kind: 'provisionable' };
  const elsewhere = 'a new one would have to be where none is yet, for its topology spread constraints';
  return { kind: 'none', detail: `${detail}; ${elsewhere}`, isVolume };
}

/**
 * Whether the pod fits on a node of no side, where nobody steers it; what its volumes can reach is not asked.
 */
export function fitsUnsteered(view: ClusterView, node: NodeRecord, request: Omit<RoomRequest, 'side'>): boolean {
  return misfitOf(view, node, demandOf(view, request, request.template.tolerations, undefined, [])) === undefined;
}

interface Demand {
  readonly template: PodTemplate;
  readonly tolerations: readonly Toleration[];
  readonly pinTerms: readonly NodeSelectorTerm[] | undefined;
  readonly besideTerms: readonly NodeSelectorTerm[] | undefined;
  /** One entry a bound volume; all must hold. */
  readonly volumeTerms: readonly (readonly NodeSelectorTerm[])[];
  readonly awaited: readonly PodTemplate[];
  readonly isKeptApart: (node: NodeRecord) => boolean;
  readonly spread: SpreadJudge;
  /** It claims devices, and one that has its own would go for it. Where none runs yet, trying tells where some are. */
  readonly lacksProof: boolean;
}

function demandOf(
  view: ClusterView,
  request: Omit<RoomRequest, 'side'>,
  tolerations: Demand['tolerations'],
  pinTerms: Demand['pinTerms'],
  volumeTerms: Demand['volumeTerms'],
): Demand {
  const { namespace, template, besideTerms, leaving, awaited = [] } = request;
  const isKeptApart = judgePodAffinity(view, request);
  const spread = judgeSpread(view, { namespace, template, tolerations, pinTerms, leaving });
  const lacksProof = template.claimsDevices === true && leaving?.nodeName !== undefined;
  return { template, tolerations, pinTerms, besideTerms, volumeTerms, awaited, isKeptApart, spread, lacksProof };
}

function misfitOf(view: ClusterView, node: NodeRecord, demand: Demand): Misfit | undefined {
  if (!toleratesAll(demand.tolerations, node.taints)) return 'taint';
  if (!admitsNode(demand.template, node)) return 'labels';
  for (const terms of [demand.pinTerms, demand.besideTerms])
    if (terms !== undefined && !matchesNodeTerms(terms, node)) return 'labels';
  if (!demand.volumeTerms.every((terms) => matchesNodeTerms(terms, node))) return 'volume';
  if (view.requestedOnNode(node.name).isPartial === true) return 'unseen';
  if (!hasRoomFor(view, node, demand.template)) return 'room';
  const awaited = demand.awaited.filter((each) => admitsNode(each, node));
  if (awaited.length > 0 && !hasRoomFor(view, node, demand.template, awaited)) return 'awaited';
  if (demand.isKeptApart(node)) return 'affinity';
  if (demand.spread.isUneven(node)) return 'spread';
  return demand.lacksProof ? 'devices' : undefined;
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

const none: readonly PodTemplate[] = [];

/** Whether the requests of the template, and of others, are known to fit beside what runs on the node already. */
export function hasRoomFor(
  view: ClusterView,
  node: NodeRecord,
  template: PodTemplate,
  others: readonly PodTemplate[] = none,
): boolean {
  const used = view.requestedOnNode(node.name);
  const { allocatable, maxPods } = node;
  const wanted = (key: keyof PodTemplate['requests']): number =>
    others.reduce((sum, { requests }) => sum + requests[key], template.requests[key]);
  return (
    used.isPartial !== true &&
    used.pods + 1 + others.length <= maxPods &&
    used.cpuMillis + wanted('cpuMillis') <= allocatable.cpuMillis &&
    used.memoryBytes + wanted('memoryBytes') <= allocatable.memoryBytes &&
    hasExtrasFor(view, node, template.extraRequests, others)
  );
}

/** How many pods like this one, which fits there, the node has room for. */
function placesOn(view: ClusterView, { name, allocatable, maxPods }: NodeRecord, template: PodTemplate): number {
  const { requests, extraRequests } = template;
  // Of devices there are few: none is counted on twice.
  if (extraRequests !== undefined) return 1;
  const used = view.requestedOnNode(name);
  const fit = (key: keyof typeof requests): number => Math.floor((allocatable[key] - used[key]) / requests[key]);
  return Math.min(
    maxPods - used.pods,
    ...(['cpuMillis', 'memoryBytes'] as const).filter((key) => requests[key] > 0).map(fit),
  );
}

/** Few pods ask for any: what the others on the node have of them is counted when somebody does. */
function hasExtrasFor(
  view: ClusterView,
  { name: nodeName, extraAllocatable }: NodeRecord,
  wanted: PodTemplate['extraRequests'],
  others: readonly PodTemplate[],
): boolean {
  if (wanted === undefined) return true;
  const running = view.podsOnNode(nodeName).filter((pod) => !hasEnded(pod));
  const all = [...running.map(({ template }) => template), ...others];
  return Object.entries(wanted).every(([name, amount]) => {
    const taken = all.reduce((sum, { extraRequests }) => sum + (extraRequests?.[name] ?? 0), 0);
    return taken + amount <= (extraAllocatable?.[name] ?? 0);
  });
}

/**
 * The free slots of a revision, as admission asks for them. Every admission goes through all pods of its workload, so
 * the usual case, in which each stands in its own slot, is told without making an object a pod.
 */
import type { ClusterView } from '../../model/cluster-view.ts';
import { isLive } from '../../model/owners.ts';
import type { NodeClass, PodRecord, WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import { actualSide, assignSlots, type Occupant, occupantsOf } from './assignment.ts';
import type { Claim } from './claims.ts';
import { type SlotRule, slotsFor, spotSlotsOf } from './slots.ts';

/** The sides of some pods, and how many of them are live and on on-demand. */
export interface Census {
  readonly pods: readonly PodRecord[];
  /** By position in `pods`; 0 for a pod that holds no slot. */
  readonly codes: Uint8Array;
  readonly live: number;
  readonly onDemand: number;
}

/**
 * Small numbers instead of words: a census of 5,000 pods is then one array of 5,000 bytes. 0 is a pod without a slot.
 */
const SPOT = 1;
const ON_DEMAND = 2;
const UNKNOWN = 3;
const codeOf: Readonly<Record<NodeClass, number>> = { spot: SPOT, 'on-demand': ON_DEMAND, unknown: UNKNOWN };

/** Looks at each pod once, and at each node once. */
export function takeCensus(view: ClusterView, sides: Sides, pods: readonly PodRecord[]): Census {
  const codes = new Uint8Array(pods.length);
  const codeOfNode = new Map<string, number>();
  let [live, onDemand] = [0, 0];
  for (let index = 0; index < pods.length; index++) {
    const pod = pods[index];
    if (pod === undefined || !isLive(pod)) continue;
    const { nodeName } = pod;
    let code = nodeName === undefined ? undefined : codeOfNode.get(nodeName);
    if (code === undefined) {
      code = codeOf[actualSide(view, sides, pod)];
      if (nodeName !== undefined) codeOfNode.set(nodeName, code);
    }
    codes[index] = code;
    live++;
    if (code === ON_DEMAND) onDemand++;
  }
  return { pods, codes, live, onDemand };
}

/** The lowest free slot of each side among 1..replicas, and the lowest above. */
export interface FreeSlots {
  readonly spot: number | undefined;
  readonly onDemand: number | undefined;
  readonly above: () => number;
}

export interface FreeSlotsRequest {
  readonly view: ClusterView;
  readonly sides: Sides;
  readonly workload: WorkloadRecord;
  readonly rule: SlotRule;
  /** Of the revision's pods. */
  readonly census: Census;
  /** Of the revision. */
  readonly claims: readonly Claim[];
}

/**
 * Temporary cover keeps its slots of spot: a place of on-demand that comes free is filled as such, and a scale-down
 * finds the highest slots where they belong.
 */
export function freeSlots(request: FreeSlotsRequest): FreeSlots {
  return freeAtRest(request) ?? freeByAssignment(request);
}

/** Undefined when somebody does not stand in a slot of its own, 1..replicas and of its side. */
function freeAtRest({ workload, rule, census, claims }: FreeSlotsRequest): FreeSlots | undefined {
  const replicas = slotsFor(workload.replicas);
  const isSpotSlot = spotSlotsOf(rule, replicas);
  const taken = new Uint8Array(replicas + 1);
  const takes = (slot: number | undefined, code: number, isCover: boolean): boolean => {
    if (slot === undefined || slot > replicas || taken[slot] === 1) return false;
    if (code === UNKNOWN || (!isCover && (code === SPOT) !== (isSpotSlot[slot] === 1))) return false;
    taken[slot] = 1;
    return true;
  };
  const { pods, codes } = census;
  for (let index = 0; index < pods.length; index++) {
    const code = codes[index] ?? 0;
    const pod = pods[index];
    if (code !== 0 && !takes(pod?.slot, code, pod?.fallback === true)) return undefined;
  }
  for (const claim of claims) {
    if (!takes(claim.slot, codeOf[claim.side], claim.cover === true)) return undefined;
  }
  let [spot, onDemand]: (number | undefined)[] = [undefined, undefined];
  for (let slot = 1; slot <= replicas && (spot === undefined || onDemand === undefined); slot++) {
    if (taken[slot] === 1) continue;
    if (isSpotSlot[slot] === 1) spot ??= slot;
    else onDemand ??= slot;
  }
  return { spot, onDemand, above: () => replicas + 1 };
}

function freeByAssignment({ view, sides, workload, rule, census, claims }: FreeSlotsRequest): FreeSlots {
  const occupants = occupantsOf(view, sides, workload, census.pods, { coversStay: true });
  for (const claim of claims) occupants.push(claimed(claim));
  const assignment = assignSlots(rule, workload.replicas, occupants);
  const { free } = assignment;
  return { spot: free.spot[0], onDemand: free.onDemand[0], above: () => assignment.nextAbove };
}

function claimed({ slot, side, at, uid, cover }: Claim): Occupant {
  return { pod: undefined, slot, side, isCover: cover === true, since: at, id: uid };
}

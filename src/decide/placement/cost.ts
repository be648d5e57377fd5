/**
 * What the pods of a workload cost an hour, what their mix saves, and what the floor costs.
 *
 * A pod's part of its node: half of the node's price goes to its CPU and half to its memory, and the pod bears the
 * share it requests of each. So the pods of a node together never cost more than the node; what nobody requests is
 * nobody's.
 */
import type { PriceTable } from '../../api/prices.ts';
import type { DollarsPerHour } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { isLive, podsOf } from '../../model/owners.ts';
import { describeMissingPrice, hourlyPrice, placeOf } from '../../model/prices.ts';
import type { ComputeResources, NodeRecord, PodRecord, Side, WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import { countsFor, type SideCounts, type SlotRule } from './slots.ts';

export interface CostInput {
  readonly view: ClusterView;
  readonly sides: Sides;
  readonly workload: WorkloadRecord;
  /** Undefined for a workload that is not managed: there is no target and no floor then. */
  readonly rule: SlotRule | undefined;
  readonly prices: PriceTable;
}

/** Dollars an hour throughout. What is unknown is undefined or named in `unknown`, never guessed. */
export interface WorkloadCost {
  /** Live pods on a node. Pods without a node cost nothing yet. */
  readonly pods: number;
  /** Those of them whose price is known; all figures are about these. */
  readonly pricedPods: number;
  /** What they cost now. */
  readonly actual: DollarsPerHour;
  /** The same pods on the same instance types, all on demand. */
  readonly allOnDemand: DollarsPerHour;
  /**
   * A replica of each side: the mean of the pods there, else of the others at that side's price of their instance type.
   */
  readonly perReplica: { readonly spot: DollarsPerHour | undefined; readonly onDemand: DollarsPerHour | undefined };
  /** All replicas once each is on the side of its slot; undefined where a side that is wanted has no price. */
  readonly target: DollarsPerHour | undefined;
  /** What the floor adds: the replicas that only the floor keeps from spot, at the difference of the sides. */
  readonly floor: { readonly replicas: number; readonly cost: DollarsPerHour | undefined } | undefined;
  /** What the prices file does not say, each thing once. */
  readonly unknown: readonly string[];
}

/** Several workloads together. */
export interface FleetCost extends Pick<WorkloadCost, 'pods' | 'pricedPods' | 'actual' | 'allOnDemand' | 'unknown'> {
  /** Undefined where the target of any workload is unknown, or not of all its pods. */
  readonly target: DollarsPerHour | undefined;
  /** What the floors add, as far as known. */
  readonly floors: DollarsPerHour;
}

/**
 * Sums over workloads. `target` is undefined where one of them has no prices for all its pods: a partial sum would look
 * like a saving.
 */
export function sumCosts(costs: readonly WorkloadCost[]): FleetCost {
  const sum = (of: (cost: WorkloadCost) => number): number => costs.reduce((total, cost) => total + of(cost), 0);
  // A workload without pods yet has no prices to go by, and its target would be missing from the sum.
  const isComplete = costs.every(({ target, pods, pricedPods }) => target !== undefined && pods === pricedPods);
  return {
    pods: sum(({ pods }) => pods),
    pricedPods: sum(({ pricedPods }) => pricedPods),
    actual: sum(({ actual }) => actual),
    allOnDemand: sum(({ allOnDemand }) => allOnDemand),
    target: isComplete ? sum(({ target }) => target ?? 0) : undefined,
    floors: sum(({ floor }) => floor?.cost ?? 0),
    unknown: [...new Set(costs.flatMap(({ unknown }) => unknown))],
  };
}

/** Linear in the pods of the workload. */
export function costOf({ view, sides, workload, rule, prices }: CostInput): WorkloadCost {
  const shares = emptyTally();
  const unknown = new Set<string>();
  let pods = 0;
  for (const pod of podsOf(view, workload)) {
    const node = pod.nodeName === undefined || !isLive(pod) ? undefined : view.node(pod.nodeName);
    if (node === undefined) continue;
    pods++;
    const missing = addPod(shares, prices, { pod, node, side: sides.classOf(node) });
    if (missing !== undefined) unknown.add(missing);
  }
  const perReplica = { spot: meanOf(shares, 'spot'), onDemand: meanOf(shares, 'on-demand') };
  return {
    pods,
    pricedPods: shares.spot.pods + shares['on-demand'].pods,
    actual: shares.spot.cost + shares['on-demand'].cost,
    allOnDemand: shares.spot.onDemandCost + shares['on-demand'].onDemandCost,
    perReplica,
    target: rule === undefined ? undefined : costOfCounts(countsFor(rule, workload.replicas), perReplica),
    floor: rule === undefined ? undefined : floorOf(rule, workload.replicas, perReplica),
    unknown: [...unknown],
  };
}

/** The priced pods of one side. */
interface SideTally {
  pods: number;
  cost: DollarsPerHour;
  onDemandCost: DollarsPerHour;
  /** Of the pods whose instance type has a price on spot. */
  spotCost: DollarsPerHour;
  podsWithSpotPrice: number;
}
type Tally = Readonly<Record<Side, SideTally>>;

function emptyTally(): Tally {
  const side = (): SideTally => ({ pods: 0, cost: 0, onDemandCost: 0, spotCost: 0, podsWithSpotPrice: 0 });
  return { spot: side(), 'on-demand': side() };
}

interface PlacedPod {
  readonly pod: PodRecord;
  readonly node: NodeRecord;
  readonly side: Side | 'unknown';
}

/** @returns what is missing to price the pod; undefined when it is counted. */
function addPod(tally: Tally, prices: PriceTable, { pod, node, side }: PlacedPod): string | undefined {
  if (side === 'unknown') return `the class of node ${node.name}`;
  const place = placeOf(node);
  const onDemand = hourlyPrice(prices, place, 'on-demand');
  const spot = hourlyPrice(prices, place, 'spot');
  const own = side === 'spot' ? spot : onDemand;
  if (own === undefined || onDemand === undefined)
    return describeMissingPrice(place, onDemand === undefined ? 'on-demand' : side);
  const share = shareOf(pod.template.requests, node.allocatable);
  if (share === undefined) return `what node ${node.name} can hold`;
  const at = tally[side];
  at.pods++;
  at.cost += share * own;
  at.onDemandCost += share * onDemand;
  if (spot !== undefined) {
    at.spotCost += share * spot;
    at.podsWithSpotPrice++;
  }
  return undefined;
}

/** The part of a node's price, from 0 to 1, that requests bear; undefined for a node that reports no room at all. */
export function shareOf(requests: ComputeResources, allocatable: ComputeResources): number | undefined {
  if (allocatable.cpuMillis <= 0 || allocatable.memoryBytes <= 0) return undefined;
  const cpu = Math.min(1, requests.cpuMillis / allocatable.cpuMillis);
  const memory = Math.min(1, requests.memoryBytes / allocatable.memoryBytes);
  return (cpu + memory) / 2;
}

/**
 * Replicas of one workload request alike, so the mean stands for the next one; `undefined` only where no pod has such a
 * price.
 */
function meanOf(tally: Tally, side: Side): DollarsPerHour | undefined {
  const there = tally[side];
  if (there.pods > 0) return there.cost / there.pods;
  const others = tally[side === 'spot' ? 'on-demand' : 'spot'];
  if (side === 'on-demand') return others.pods === 0 ? undefined : others.onDemandCost / others.pods;
  return others.podsWithSpotPrice === 0 ? undefined : others.spotCost / others.podsWithSpotPrice;
}

function costOfCounts(counts: SideCounts, perReplica: WorkloadCost['perReplica']): DollarsPerHour | undefined {
  let sum = 0;
  for (const side of ['spot', 'onDemand'] as const) {
    const each = perReplica[side];
    if (counts[side] === 0) continue;
    if (each === undefined) return undefined;
    sum += counts[side] * each;
  }
  return sum;
}

/**
 * Against the same rule without a floor: only replicas that the percentage would have sent to spot are the floor's
 * cost.
 */
function floorOf(
  rule: SlotRule,
  replicas: number,
  { spot, onDemand }: WorkloadCost['perReplica'],
): WorkloadCost['floor'] {
  const without = countsFor({ ...rule, minOnDemand: { kind: 'count', count: 0 } }, replicas);
  const kept = without.spot - countsFor(rule, replicas).spot;
  if (kept === 0) return { replicas: 0, cost: 0 };
  return { replicas: kept, cost: spot === undefined || onDemand === undefined ? undefined : kept * (onDemand - spot) };
}

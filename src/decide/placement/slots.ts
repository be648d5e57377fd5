/**
 * Slots: the formula that says how many of k replicas run on spot, and thereby on which side each slot is. Both counts
 * grow by 0 or 1 when k grows by 1 and never shrink, so slot k has a fixed side whatever the number of replicas.
 */
import type { MinOnDemand } from '../../api/annotations-values.ts';
import type { Percent } from '../../lib/units.ts';
import type { Side } from '../../model/records.ts';

/** What decides the sides of slots. Percentages are whole numbers in 0..100, counts whole numbers >= 0. */
export interface SlotRule {
  readonly spotPercentage: Percent;
  readonly minOnDemand: MinOnDemand;
  /** `ceil` is what mission/002 asks for, `floor` what Spotalis ships. */
  readonly rounding: 'ceil' | 'floor';
  /** `aboveBase`: the percentage applies to the replicas above the floor, as in EC2 Auto Scaling and VMSS. */
  readonly basis: 'total' | 'aboveBase';
}

export interface SideCounts {
  readonly spot: number;
  readonly onDemand: number;
}

/** The on-demand floor for k replicas, never more than k: below the floor all are on on-demand (hazard H4, case 16). */
export function floorCount(rule: SlotRule, k: number): number {
  const { minOnDemand } = rule;
  const wanted = minOnDemand.kind === 'count' ? minOnDemand.count : Math.ceil((k * minOnDemand.percent) / 100);
  return Math.min(k, wanted);
}

/**
 * How many of k replicas run on spot: the rounded share, but never into the floor.
 *
 * Monotone for a floor in percent too: k - ceil(k*m/100) = floor(k*(100-m)/100) grows by 0 or 1, and so does the
 * smaller of two such sequences.
 */
export function spotCount(rule: SlotRule, k: number): number {
  const aboveFloor = k - floorCount(rule, k);
  const share = round(rule, rule.basis === 'total' ? k : aboveFloor);
  return Math.min(share, aboveFloor);
}

/** k*P is a whole number, so its hundredth is never rounded across a whole number by floating point. */
function round(rule: SlotRule, count: number): number {
  const hundredths = count * rule.spotPercentage;
  return rule.rounding === 'ceil' ? Math.ceil(hundredths / 100) : Math.floor(hundredths / 100);
}

/** Replicas on on-demand among k >= 0; with {@link spotCount} they add up to k. */
export function onDemandCount(rule: SlotRule, k: number): number {
  return k - spotCount(rule, k);
}

/** Both counts among k >= 0 replicas. */
export function countsFor(rule: SlotRule, k: number): SideCounts {
  const spot = spotCount(rule, k);
  return { spot, onDemand: k - spot };
}

/** The side of slot k >= 1: the one that grows from k-1 to k replicas. */
export function sideOfSlot(rule: SlotRule, k: number): Side {
  return spotCount(rule, k) > spotCount(rule, k - 1) ? 'spot' : 'on-demand';
}

/**
 * No cluster has so many pods (kubernetes.io, Considerations for large clusters), but any workload may ask for 2^31 of
 * them: slots are gone through one by one, for each of its pods.
 */
const MAX_SLOTS = 150_000;

/** How many slots a workload of so many replicas has. */
export function slotsFor(replicas: number): number {
  return Math.min(replicas, MAX_SLOTS);
}

/** By slot 1..replicas: 1 where the slot is spot. @param replicas bounded by {@link slotsFor}. */
export function spotSlotsOf(rule: SlotRule, replicas: number): Uint8Array {
  const slots = new Uint8Array(replicas + 1);
  let before = 0;
  for (let slot = 1; slot <= replicas; slot++) {
    const spot = spotCount(rule, slot);
    slots[slot] = spot - before;
    before = spot;
  }
  return slots;
}

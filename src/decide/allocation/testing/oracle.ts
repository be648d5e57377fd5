/**
 * The bargaining solution a second time, found the slow way and on its own: bisection on the level, group by group.
 * Shares nothing with the solver but the types.
 */
import type { Bid, GroupCap } from '../problem.ts';

interface Slot {
  readonly w: number;
  readonly d: number;
  readonly l: number;
  readonly u: number;
}

const STEPS = 60;

/**
 * Whole-number bounds are assumed; `capacity` too. Groups must nest or be disjoint, and their members' claims must fit.
 */
export function oracle(
  bids: readonly Bid[],
  capacity: number,
  options: {
    readonly disagreement?: 'claim' | 'zero';
    readonly floor?: number;
    readonly groups?: readonly GroupCap[];
  } = {},
): number[] {
  const { disagreement = 'claim', floor = 10, groups = [] } = options;
  const slots = bids.map(({ weight, min, max }): Slot => {
    const u = Math.max(min, Math.min(max, capacity));
    return { w: weight, d: disagreement === 'claim' ? min : 0, l: min, u };
  });
  const claims = slots.reduce((sum, { l }) => sum + l, 0);
  if (claims <= capacity) return share(slots, capacity, bids, groups);
  const floorOf = (index: number): number => Math.max(floor, bids[index]?.floor ?? 0);
  const shed = slots.map(({ w, l }, index) => ({ w, d: 0, l: Math.min(floorOf(index), l), u: l }));
  const floors = shed.reduce((sum, { l }) => sum + l, 0);
  return floors > capacity ? shed.map(({ l }) => l) : share(shed, capacity, bids, []);
}

function share(slots: readonly Slot[], capacity: number, bids: readonly Bid[], groups: readonly GroupCap[]): number[] {
  // The level at which each group is full; its members stay there, however high the level outside.
  const full = slots.map(() => Number.POSITIVE_INFINITY);
  const sumOf = (members: readonly number[], level: number): number =>
    members.reduce((sum, index) => sum + valueAt(slots[index], Math.min(level, full[index] ?? level)), 0);
  for (const { cap, members } of [...groups].sort((a, b) => a.members.length - b.members.length)) {
    const own = [...slots.keys()].filter((index) => members.includes(bids[index]?.uid ?? ''));
    if (sumOf(own, Number.POSITIVE_INFINITY) <= cap) continue;
    const level = bisect((t) => sumOf(own, t), cap);
    for (const index of own) full[index] = Math.min(full[index] ?? level, level);
  }
  const everyone = [...slots.keys()];
  const isEnough = sumOf(everyone, Number.POSITIVE_INFINITY) <= capacity;
  const level = isEnough ? Number.POSITIVE_INFINITY : bisect((t) => sumOf(everyone, t), capacity);
  const found = everyone.map((index) => valueAt(slots[index], Math.min(level, full[index] ?? level)));
  return isEnough ? fillWeightless(slots, found, capacity) : found;
}

/** Those of weight 0 share what is left as if they had weight 1. */
function fillWeightless(slots: readonly Slot[], x: readonly number[], capacity: number): number[] {
  const idle = slots.map(({ w }, index) => ({ w, index })).filter(({ w }) => w === 0);
  if (idle.length === 0) return [...x];
  const rest = capacity - slots.reduce((sum, { w }, index) => sum + (w > 0 ? (x[index] ?? 0) : 0), 0);
  const inner = idle.map(({ index }) => ({ ...(slots[index] ?? { d: 0, l: 0, u: 0 }), w: 1 }));
  const sumAt = (t: number): number => inner.reduce((sum, slot) => sum + valueAt(slot, t), 0);
  const level = sumAt(Number.POSITIVE_INFINITY) <= rest ? Number.POSITIVE_INFINITY : bisect(sumAt, rest);
  const result = [...x];
  idle.forEach(({ index }, k) => {
    result[index] = valueAt(inner[k], level);
  });
  return result;
}

function valueAt(slot: Slot | undefined, level: number): number {
  if (slot === undefined) return 0;
  const { w, d, l, u } = slot;
  if (w === 0) return l;
  return Math.min(u, Math.max(l, d + w * level));
}

/** The highest level at which the sum is not above what is wanted; it grows with the level. */
function bisect(sumAt: (level: number) => number, wanted: number): number {
  let low = 0;
  let high = 1;
  while (sumAt(high) <= wanted) high *= 2;
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (sumAt(middle) > wanted) high = middle;
    else low = middle;
  }
  return low;
}

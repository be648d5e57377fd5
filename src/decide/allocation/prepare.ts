/** A problem made ready for the solver: checked, put in one order, counted in quanta. */
import { type Bid, kernelFloor, type Problem } from './problem.ts';
import type { RoundingGroup } from './round-shares.ts';
import type { Columns } from './water-fill.ts';

/** A row is a pod, in the order of the uids' hash: ties fall the same in whatever order the bids came. */
export interface Prepared {
  /** In quanta, by row. Groups narrow the bounds in place. */
  readonly columns: Columns;
  readonly capacity: number;
  readonly quantum: number;
  /** What each keeps in overload. */
  readonly floors: Float64Array;
  /** Undefined where overload does not ask for tiers. */
  readonly tiers: Float64Array | undefined;
  readonly uids: readonly string[];
  /** Row -> index of its bid. */
  readonly order: readonly number[];
  /** Innermost (smallest) first; members are rows. */
  readonly groups: readonly RoundingGroup[];
  readonly conflicts: readonly string[];
}

export function prepare(problem: Problem): Prepared {
  const { bids, disagreement = 'claim', hardFloor = kernelFloor, overload = 'weights' } = problem;
  const quantum = problem.quantum ?? 1;
  if (!Number.isFinite(problem.capacity)) throw new RangeError(`capacity is ${problem.capacity}: give millicores`);
  const capacity = Math.max(0, Math.floor(problem.capacity / quantum));
  const order = orderByUid(bids);
  const size = bids.length;
  const columns = {
    weight: new Float64Array(size),
    disagreement: new Float64Array(size),
    lower: new Float64Array(size),
    upper: new Float64Array(size),
  };
  const floors = new Float64Array(size);
  const tiers = overload === 'tiers' ? new Float64Array(size) : undefined;
  const conflicts: string[] = [];
  order.forEach((index, row) => {
    const bid = bids[index];
    if (bid === undefined) return;
    check(bid);
    if (bid.max < bid.min) conflicts.push(bid.uid);
    const lower = Math.ceil(bid.min / quantum);
    const upper = Math.max(lower, Math.min(capacity, Math.floor(bid.max / quantum)));
    columns.weight[row] = bid.weight;
    columns.lower[row] = lower;
    columns.upper[row] = upper;
    columns.disagreement[row] = disagreementOf(bid, disagreement, lower, quantum);
    floors[row] = Math.min(lower, Math.ceil(Math.max(hardFloor, bid.floor ?? 0) / quantum));
    if (tiers !== undefined) tiers[row] = bid.tier ?? 0;
  });
  const uids = order.map((index) => bids[index]?.uid ?? '');
  const groups = prepareGroups(problem, uids, quantum);
  return { columns, capacity, quantum, floors, tiers, uids, order, groups, conflicts };
}

function disagreementOf(bid: Bid, kind: NonNullable<Problem['disagreement']>, lower: number, quantum: number): number {
  if (kind === 'claim') return lower;
  if (kind === 'zero') return 0;
  return Math.min(lower, (bid.disagreement ?? bid.min) / quantum);
}

/**
 * One order whatever the order of the bids, so that sums of doubles come out the same. By a hash of the uid, since
 * comparing strings would take longer than all the rest; hash and index make one key, exact for up to two million bids.
 */
function orderByUid(bids: readonly Bid[]): number[] {
  const span = Math.max(1, bids.length);
  const keys = new Float64Array(bids.length);
  bids.forEach(({ uid }, index) => {
    keys[index] = hash(uid) * span + index;
  });
  keys.sort();
  const order = new Array<number>(bids.length);
  for (let row = 0; row < order.length; row++) order[row] = (keys[row] ?? 0) % span;
  const uidOf = (index: number | undefined): string => bids[index ?? 0]?.uid ?? '';
  const hashOf = (row: number): number => Math.floor((keys[row] ?? 0) / span);
  for (let row = 1; row < order.length; row++) {
    if (hashOf(row) !== hashOf(row - 1)) continue;
    // Equal hashes are rare; within them the uid decides.
    for (let at = row; at > 0 && hashOf(at) === hashOf(at - 1); at--) {
      const [before, here] = [order[at - 1] ?? 0, order[at] ?? 0];
      if (uidOf(before) === uidOf(here)) throw new RangeError(`two bids have the uid "${uidOf(here)}"`);
      if (uidOf(before) < uidOf(here)) break;
      [order[at - 1], order[at]] = [here, before];
    }
  }
  return order;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

function check(bid: Bid): void {
  const { uid, weight, min, max, disagreement = 0, floor = 0 } = bid;
  const isValid =
    weight >= 0 && weight < Number.POSITIVE_INFINITY && min >= 0 && min < Number.POSITIVE_INFINITY && max >= 0;
  if (!isValid || !Number.isFinite(disagreement) || !Number.isFinite(floor)) {
    throw new RangeError(
      `bid of ${uid}: weight ${weight}, min ${min}, max ${max}, disagreement ${disagreement}, floor ${floor} must be numbers >= 0, all finite but max`,
    );
  }
}

function prepareGroups({ groups = [] }: Problem, uids: readonly string[], quantum: number): RoundingGroup[] {
  if (groups.length === 0) return [];
  const rows = new Map(uids.map((uid, row) => [uid, row]));
  return groups
    .map(({ cap, members }) => ({
      cap: Math.max(0, Math.floor(cap / quantum)),
      members: [...new Set(members)].map((uid) => rows.get(uid)).filter((row) => row !== undefined),
    }))
    .sort((a, b) => a.members.length - b.members.length);
}

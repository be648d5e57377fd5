/**
 * The weighted Nash bargaining solution of one node: claims first, the surplus by weight, nobody above what it can use.
 * Properties P1 to P15 hold for it (tests of these names); an independent solver by bisection is their oracle.
 */
import { type Prepared, prepare } from './prepare.ts';
import type { Mode, Problem, Solution } from './problem.ts';
import { roundShares } from './round-shares.ts';
import { shed } from './shed.ts';
import { type Filled, pick, waterFill } from './water-fill.ts';

/**
 * Exact in O(n log n) a level of groups; deterministic and independent of the order of bids. Continuous where claims
 * just meet capacity and where wants do. Throws a RangeError for a bid that cannot be (NaN, negative, uid twice).
 */
export function solve(problem: Problem): Solution {
  const prepared = prepare(problem);
  const { columns, capacity, quantum, order } = prepared;
  for (const group of prepared.groups) limitGroup(prepared, group.members, group.cap);
  const { filled, mode, overcommitted } = fill(prepared, capacity);
  const whole = overcommitted
    ? filled.x.map(Math.round)
    : roundShares(filled.x, columns.upper, columns.weight, prepared.uids, prepared.groups);
  const shares: number[] = new Array<number>(order.length).fill(0);
  const exact: number[] = new Array<number>(order.length).fill(0);
  order.forEach((bid, row) => {
    shares[bid] = (whole[row] ?? 0) * quantum;
    exact[bid] = (filled.x[row] ?? 0) * quantum;
  });
  const shadowPrice = 1 / (filled.level * quantum);
  return { shares, exact, shadowPrice, mode, overcommitted, conflicts: prepared.conflicts };
}

function fill(prepared: Prepared, capacity: number): { filled: Filled; mode: Mode; overcommitted: boolean } {
  const { columns } = prepared;
  const claims = sum(columns.lower);
  if (claims > capacity) {
    const { filled, overcommitted } = shed(columns, prepared.floors, prepared.tiers, capacity);
    return { filled, mode: 'overloaded', overcommitted };
  }
  const filled = waterFill(columns, capacity);
  const mode = sum(columns.upper) > capacity ? 'congested' : 'uncongested';
  return { filled, mode, overcommitted: false };
}

/**
 * A group's members can never have more than the group's own solution on its cap gives them; as upper bounds those
 * values make the outer solution exact, because a member's share grows with the level until its group is full.
 * Innermost first.
 */
function limitGroup(prepared: Prepared, members: readonly number[], cap: number): void {
  const inner = { ...prepared, columns: pick(prepared.columns, members), ...floorsOf(prepared, members) };
  const { filled, mode } = fill(inner, cap);
  if (mode === 'uncongested') return;
  members.forEach((row, k) => {
    const value = filled.x[k] ?? 0;
    prepared.columns.upper[row] = value;
    if (mode === 'overloaded') prepared.columns.lower[row] = value;
    if ((prepared.columns.disagreement[row] ?? 0) > value) prepared.columns.disagreement[row] = value;
  });
}

function floorsOf({ floors, tiers }: Prepared, members: readonly number[]): Pick<Prepared, 'floors' | 'tiers'> {
  return {
    floors: Float64Array.from(members, (row) => floors[row] ?? 0),
    tiers: tiers === undefined ? undefined : Float64Array.from(members, (row) => tiers[row] ?? 0),
  };
}

function sum(column: Float64Array): number {
  let total = 0;
  for (const value of column) total += value;
  return total;
}

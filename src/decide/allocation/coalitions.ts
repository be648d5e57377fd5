/**
 * Coalitions: pods of one annotation bargain as one for a part of the node by what they need, and divide it among
 * themselves. Nothing is wasted: what a coalition cannot use goes to the others. Credits say who lent to whom inside.
 */
import { createSeededRandom } from '../../lib/random.ts';
import type { Millicores } from '../../lib/units.ts';
import type { Bid, GroupCap, Problem, Solution } from './problem.ts';
import { solve } from './solve.ts';

/** Pods of one node and namespace with the same `mbcas.io/coalition`. */
export interface Coalition {
  readonly id: string;
  /** Uids. */
  readonly members: readonly string[];
}

/**
 * Two solves: with each coalition held to its part, then what is left over to whoever can use it. Where nobody goes
 * short there is nothing to divide, and in overload claims come before coalitions.
 */
export function solveWithCoalitions(problem: Problem, coalitions: readonly Coalition[]): Solution {
  const caps = coalitionCaps(problem, coalitions);
  if (caps.length === 0) return solve(problem);
  const free = solve(problem);
  if (free.mode !== 'congested') return free;
  const capped = solve({ ...problem, groups: [...(problem.groups ?? []), ...caps] });
  const left = sum(free.shares) - sum(capped.shares);
  if (left <= 0) return { ...capped, mode: free.mode };
  const bids = problem.bids.map((bid, index) => ({
    ...bid,
    min: capped.shares[index] ?? bid.min,
    disagreement: Math.min(disagreementOf(problem, bid), capped.shares[index] ?? bid.min),
  }));
  return { ...solve({ ...problem, bids, disagreement: 'own' }), mode: free.mode };
}

function disagreementOf({ disagreement = 'claim' }: Problem, bid: Bid): Millicores {
  if (disagreement === 'zero') return 0;
  return disagreement === 'own' ? (bid.disagreement ?? bid.min) : bid.min;
}

/** Parts of the capacity by need, at least the members' lower bounds. Coalitions of one are none. */
function coalitionCaps({ bids, capacity }: Problem, coalitions: readonly Coalition[]): GroupCap[] {
  const needOf = (bid: Bid): Millicores => Math.max(bid.min, Math.min(bid.max, capacity));
  const byUid = new Map(bids.map((bid) => [bid.uid, bid]));
  const all = sum(bids.map(needOf));
  return coalitions
    .map(({ id, members }) => ({
      id,
      members,
      own: members.map((uid) => byUid.get(uid)).filter((bid) => bid !== undefined),
    }))
    .filter(({ own }) => own.length > 1)
    .map(({ id, members, own }) => {
      const part = Math.floor((capacity * sum(own.map(needOf))) / all);
      return { id, members, cap: Math.max(part, sum(own.map(({ min }) => min))) };
    });
}

/** What one member could use, and what it got. */
export interface Member {
  readonly need: Millicores;
  readonly share: Millicores;
}

/** Up to so many members every order is tried, beyond that so many random ones. */
const EXACT_MEMBERS = 7;
const SAMPLES = 2000;

/**
 * Credits: the Shapley value of the game in which a set of members is worth what the coalition's CPU would satisfy of
 * their needs, less what each got. Positive: it lent to the others. They add up to what the coalition left unused, so
 * to about 0.
 */
export function coalitionCredits(members: readonly Member[], total: Millicores): number[] {
  const values = shapleyValues(
    members.map(({ need }) => need),
    total,
  );
  return members.map(({ share }, index) => (values[index] ?? 0) - share);
}

/** Mean marginal worth over all orders of arrival, where a set is worth min(total, its needs). */
export function shapleyValues(needs: readonly Millicores[], total: Millicores): number[] {
  const values = needs.map(() => 0);
  let orders = 0;
  const count = (order: readonly number[]): void => {
    orders++;
    let left = total;
    for (const member of order) {
      const part = Math.min(left, needs[member] ?? 0);
      values[member] = (values[member] ?? 0) + part;
      left -= part;
    }
  };
  const everyone = needs.map((_, index) => index);
  if (needs.length <= EXACT_MEMBERS) permute(everyone, needs.length, count);
  else sample(everyone, count);
  return values.map((value) => value / orders);
}

/** Heap's algorithm, in place. */
function permute(items: number[], size: number, visit: (order: readonly number[]) => void): void {
  if (size <= 1) {
    visit(items);
    return;
  }
  for (let i = 0; i < size; i++) {
    permute(items, size - 1, visit);
    swap(items, size % 2 === 0 ? i : 0, size - 1);
  }
}

/** Equal inputs give equal credits: the seed is fixed. */
function sample(items: number[], visit: (order: readonly number[]) => void): void {
  const random = createSeededRandom(items.length);
  for (let round = 0; round < SAMPLES; round++) {
    for (let i = items.length - 1; i > 0; i--) swap(items, i, Math.floor(random.next() * (i + 1)));
    visit(items);
  }
}

function swap(items: number[], a: number, b: number): void {
  [items[a], items[b]] = [items[b] ?? 0, items[a] ?? 0];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

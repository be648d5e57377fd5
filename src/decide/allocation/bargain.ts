/**
 * The seats of a node as a bargaining problem: bids, quotas and coalitions as groups, and what coalitions owe each
 * other.
 */
import type { Millicores } from '../../lib/units.ts';
import type { Clamp, ClampReason } from './clamp.ts';
import { type Coalition, coalitionCredits, solveWithCoalitions } from './coalitions.ts';
import { quotaCap } from './integrations/resource-quota.ts';
import { solveHeld } from './keep-held.ts';
import type { NodeInput } from './node-input.ts';
import type { GroupCap, Problem, Solution } from './problem.ts';
import type { Seat } from './seat.ts';
import { solve } from './solve.ts';

/** Shares in the order of the seats; `overcommitted`, too, where what cannot be lowered leaves others too little. */
export interface Bargain {
  readonly solution: Solution;
  /** Per seat: what quota and coalition took from it. */
  readonly clamps: readonly (readonly Clamp[])[];
}

/**
 * Solves the node. Quotas and coalitions are groups in the problem and not cuts afterwards: what one may not have goes
 * to the others, and the sum stays within `capacity`, or what there is already ({@link solveHeld}).
 * @param mins the lower bound of each seat, after those that did not fit gave way.
 */
export function bargain(
  input: NodeInput,
  seats: readonly Seat[],
  mins: readonly Millicores[],
  capacity: Millicores,
): Bargain {
  const { rules } = input;
  const bids = seats.map(({ pod, weight, box }, index) => {
    const min = mins[index] ?? box.min;
    const disagreement = rules.disagreement === 'zero' ? 0 : Math.min(box.claim, min);
    return { uid: pod.uid, weight, min, max: Math.max(min, box.max), disagreement, tier: pod.priority };
  });
  const { quantum, overload } = rules;
  const groups = quotaGroups(input, seats);
  const plain: Problem = { capacity, bids, groups, quantum, overload, disagreement: 'own' };
  const { problem, solution: withQuota } = solveHeld(plain, seats);
  const settled = (solution: Solution): Solution => {
    const kept = keepSum(input, seats, problem, solution);
    return problem.capacity > capacity ? { ...kept, overcommitted: true } : kept;
  };
  const coalitions = coalitionsOf(seats).filter(({ members }) => members.length > 1);
  if (groups.length + coalitions.length === 0) return { solution: settled(withQuota), clamps: [] };
  const free = groups.length === 0 ? withQuota : solve({ ...problem, groups: [] });
  const bargained = coalitions.length === 0 ? withQuota : solveWithCoalitions(problem, coalitions);
  const lost = (reason: ClampReason, from: Solution, to: Solution, index: number): Clamp[] => {
    const [before = 0, after = 0] = [from.shares[index], to.shares[index]];
    return after < before ? [{ reason, what: 'share', before, after }] : [];
  };
  const clamps = seats.map((_, index) => [
    ...lost('ResourceQuota', free, withQuota, index),
    ...lost('Coalition', withQuota, bargained, index),
  ]);
  return { solution: settled(bargained), clamps };
}

/**
 * Where wants fit, what nobody wants goes back to those who requested it at first: a request is lowered to pay for
 * another, not for its own sake. The QoS slice follows a changed sum up to a minute late, and a node that looks empty
 * is filled.
 */
function keepSum({ rules }: NodeInput, seats: readonly Seat[], problem: Problem, first: Solution): Solution {
  if (rules.apply === 'limits' || first.mode !== 'uncongested') return first;
  const bids = problem.bids.map((bid, index) => {
    const seat = seats[index];
    const min = first.shares[index] ?? bid.min;
    const asked = seat === undefined ? min : Math.min(seat.box.ceiling, seat.original.request);
    return { ...bid, min, max: Math.max(min, asked), disagreement: min };
  });
  return { ...first, shares: solve({ ...problem, bids }).shares };
}

/** What the pods of a namespace on this node may have together. */
export function quotaGroups({ rules, quotas }: NodeInput, seats: readonly Seat[]): GroupCap[] {
  const groups: GroupCap[] = [];
  for (const [namespace, quota] of quotas ?? []) {
    const own = seats.filter(({ pod }) => pod.namespace === namespace);
    const current = own.reduce((sum, { share }) => sum + share, 0);
    const cap = quotaCap(current, quota, rules.apply === 'limits' ? 'limit' : 'request', rules.requestRatio);
    if (cap !== undefined) groups.push({ id: `quota ${namespace}`, cap, members: own.map(({ pod }) => pod.uid) });
  }
  return groups;
}

/** Within a namespace: anybody may write the name of somebody else's coalition on his pod. */
function coalitionsOf(seats: readonly Seat[]): Coalition[] {
  const members = new Map<string, string[]>();
  for (const { pod, marks } of seats) {
    if (marks.coalition === undefined) continue;
    const id = `${pod.namespace}/${marks.coalition}`;
    members.set(id, [...(members.get(id) ?? []), pod.uid]);
  }
  return [...members].map(([id, uids]) => ({ id, members: uids }));
}

/** By seat; members of coalitions of two and more only. See {@link coalitionCredits}. */
export function creditsOf(seats: readonly Seat[], { shares }: Solution): ReadonlyMap<number, number> {
  const credits = new Map<number, number>();
  for (const { members } of coalitionsOf(seats)) {
    if (members.length < 2) continue;
    const rows = [...seats.keys()].filter((index) => members.includes(seats[index]?.pod.uid ?? ''));
    const own = rows.map((index) => ({ need: seats[index]?.box.max ?? 0, share: shares[index] ?? 0 }));
    const values = coalitionCredits(
      own,
      own.reduce((sum, { share }) => sum + share, 0),
    );
    rows.forEach((index, k) => {
      credits.set(index, Math.round(values[k] ?? 0));
    });
  }
  return credits;
}

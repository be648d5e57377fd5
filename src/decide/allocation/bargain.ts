/** The seats of a node as a bargaining problem: bids, quotas and coalitions as groups, and what coalitions owe each other. */
import type { Millicores } from '../../lib/units.ts';
import { type Coalition, coalitionCredits, solveWithCoalitions } from './coalitions.ts';
import { quotaCap } from './integrations/resource-quota.ts';
import type { NodeInput } from './node-input.ts';
import type { GroupCap, Solution } from './problem.ts';
import type { Seat } from './seat.ts';

export function bargain(
  { rules, quotas }: NodeInput,
  seats: readonly Seat[],
  mins: readonly Millicores[],
  capacity: Millicores,
): Solution {
  const bids = seats.map(({ pod, weight, box }, index) => {
    const min = mins[index] ?? box.min;
    const disagreement = rules.disagreement === 'zero' ? 0 : Math.min(box.claim, min);
    return { uid: pod.uid, weight, min, max: box.max, disagreement, tier: pod.priority };
  });
  const groups: GroupCap[] = [];
  for (const [namespace, quota] of quotas ?? []) {
    const own = seats.filter(({ pod }) => pod.namespace === namespace);
    const current = own.reduce((sum, { share }) => sum + share, 0);
    const cap = quotaCap(current, quota, rules.apply === 'limits' ? 'limit' : 'request', rules.requestRatio);
    if (cap !== undefined) groups.push({ id: `quota ${namespace}`, cap, members: own.map(({ pod }) => pod.uid) });
  }
  const { quantum, overload } = rules;
  return solveWithCoalitions({ capacity, bids, groups, quantum, disagreement: 'own', overload }, coalitionsOf(seats));
}

function coalitionsOf(seats: readonly Seat[]): Coalition[] {
  const members = new Map<string, string[]>();
  for (const { pod, marks } of seats) {
    if (marks.coalition !== undefined) members.set(marks.coalition, [...(members.get(marks.coalition) ?? []), pod.uid]);
  }
  return [...members].map(([id, uids]) => ({ id, members: uids }));
}

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

/**
 * P1-P14: what holds for any problem. Every answer is held against an oracle that finds it by bisection: more than
 * 40,000 random instances.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Bid } from './problem.ts';
import { checkedSolver } from './testing/checked-solver.ts';
import { anyInstance, filledInstance, type Instance, weightedInstance } from './testing/instances.ts';
import { oracle } from './testing/oracle.ts';

const RUNS = 2000;
const EPS = 1e-6;
/** Millicores: shares so close to a bound are at it. */
const SLACK = 1e-3;
const { solve, compared } = checkedSolver();
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const lower = (bid: Bid | undefined): number => bid?.min ?? 0;
const upper = (bid: Bid | undefined, capacity: number): number =>
  Math.max(lower(bid), Math.min(bid?.max ?? 0, capacity));
const holds = <Input>(inputs: fc.Arbitrary<Input>, rule: (input: Input) => void, numRuns = RUNS): void =>
  fc.assert(fc.property(inputs, rule), { numRuns });
/** An instance and one of its bids. */
const withBid = (instances: fc.Arbitrary<Instance>) =>
  fc.record({ instance: instances, pick: fc.nat(), by: fc.integer({ min: 1, max: 500 }) }).map((given) => {
    const index = given.pick % given.instance.bids.length;
    return { ...given.instance, index, by: given.by };
  });
/** The first few bids make a group, the first few of those another; all claims fit. */
const nestedGroups = fc
  .tuple(weightedInstance, fc.integer({ min: 0, max: 2000 }), fc.nat(), fc.nat())
  .map(([{ bids, capacity }, extra, a, b]) => {
    const [outer, inner] = [1 + (a % bids.length), 1 + (b % (1 + (a % bids.length)))];
    const group = (id: string, size: number, more: number) => {
      const members = bids.slice(0, size);
      return { id, members: members.map(({ uid }) => uid), cap: sum(members.map(({ min }) => min)) + more };
    };
    const groups = [group('outer', outer, extra), group('inner', inner, Math.floor(extra / 3))];
    return { bids, groups, capacity: Math.max(capacity, sum(bids.map(({ min }) => min))) };
  });
const replace = (bids: readonly Bid[], index: number, change: (bid: Bid) => Partial<Bid>): Bid[] =>
  bids.map((bid, at) => (at === index ? { ...bid, ...change(bid) } : bid));

describe('properties of the solution', () => {
  test('P1: the sum is what fits of the wants, and all of the capacity in overload', () => {
    holds(anyInstance, ({ capacity, bids }) => {
      const { shares, exact, mode, overcommitted } = solve({ capacity, bids });
      const wants = sum(bids.map((bid) => upper(bid, capacity)));
      const floors = sum(bids.map(({ min }) => Math.min(10, min)));
      expect(overcommitted).toBe(floors > capacity);
      const expected = overcommitted ? floors : mode === 'overloaded' ? capacity : Math.min(capacity, wants);
      expect(sum(shares)).toBe(expected);
      expect(sum(exact)).toBeCloseTo(expected, 5);
    });
  });

  test('P2: nobody is outside its bounds; in overload nobody is above its claim', () => {
    holds(anyInstance, ({ capacity, bids }) => {
      const { shares, mode } = solve({ capacity, bids });
      shares.forEach((share, index) => {
        const bid = bids[index];
        const [least, most] =
          mode === 'overloaded' ? [Math.min(10, lower(bid)), lower(bid)] : [lower(bid), upper(bid, capacity)];
        expect(share).toBeGreaterThanOrEqual(least);
        expect(share).toBeLessThanOrEqual(most);
      });
    });
  });

  test('P3: marginal utility is the shadow price inside the bounds, not below it at the top, not above it at the bottom', () => {
    holds(fc.tuple(weightedInstance, fc.constantFrom('claim', 'zero')), ([{ capacity, bids }, disagreement]) => {
      const { exact, mode, shadowPrice } = solve({ capacity, bids, disagreement });
      if (mode === 'uncongested') expect(shadowPrice).toBe(0);
      if (mode !== 'congested') return;
      exact.forEach((x, index) => {
        const [l, u] = [lower(bids[index]), upper(bids[index], capacity)];
        if (l === u) return;
        const marginal = (bids[index]?.weight ?? 0) / (x - (disagreement === 'claim' ? l : 0));
        if (x > l + EPS && x < u - EPS) expect(marginal / shadowPrice).toBeCloseTo(1, 5);
        else if (x >= u - EPS) expect(marginal).toBeGreaterThanOrEqual(shadowPrice * (1 - EPS));
        else expect(marginal === Number.POSITIVE_INFINITY || marginal <= shadowPrice * (1 + EPS)).toBe(true);
      });
    });
  });

  test('P4: it is what bisection finds', () => {
    holds(
      fc.tuple(anyInstance, fc.constantFrom('claim', 'zero')),
      ([{ capacity, bids }, disagreement]) => {
        const found = solve({ capacity, bids, disagreement }).exact;
        const wanted = oracle(bids, capacity, { disagreement });
        found.forEach((x, index) => {
          expect(Math.abs(x - (wanted[index] ?? Number.NaN))).toBeLessThanOrEqual(1e-3);
        });
      },
      3000,
    );
  });

  test('P4: with nested groups too', () => {
    holds(nestedGroups, ({ capacity, bids, groups }) => {
      const { exact, shares } = solve({ capacity, bids, groups });
      const wanted = oracle(bids, capacity, { groups });
      exact.forEach((x, index) => {
        expect(Math.abs(x - (wanted[index] ?? Number.NaN))).toBeLessThanOrEqual(1e-3);
      });
      for (const { cap, members } of groups) expect(sum(shares.slice(0, members.length))).toBeLessThanOrEqual(cap);
    });
  });

  // Of a concave sum over nested groups that is the whole proof of an optimum, and it knows nothing of levels.
  test('P3: with nested groups no exchange between two pods, and nothing left over, would raise the product', () => {
    holds(
      fc.tuple(nestedGroups, fc.constantFrom('claim', 'zero')),
      ([{ capacity, bids, groups }, disagreement]) => {
        const x = solve({ capacity, bids, groups, disagreement }).exact;
        const full = groups.filter(({ cap, members }) => sum(x.slice(0, members.length)) > cap - SLACK);
        const gain = (index: number): number => {
          const d = disagreement === 'claim' ? lower(bids[index]) : 0;
          return (bids[index]?.weight ?? 0) / Math.max(0, (x[index] ?? 0) - d);
        };
        const isLeft = sum(x) < capacity - SLACK;
        bids.forEach((bid, taker) => {
          if ((x[taker] ?? 0) > upper(bid, capacity) - SLACK) return;
          const own = full.filter(({ members }) => members.includes(bid.uid));
          expect(isLeft && own.length === 0).toBe(false);
          bids.forEach(({ uid, min }, giver) => {
            const mayGive = (x[giver] ?? 0) > min + SLACK && own.every(({ members }) => members.includes(uid));
            if (giver !== taker && mayGive) expect(gain(taker)).toBeLessThanOrEqual(gain(giver) * (1 + SLACK));
          });
        });
      },
      500,
    );
  });

  test('P5: more capacity, and nobody has less', () => {
    holds(withBid(anyInstance.filter(({ bids }) => bids.length > 0)), ({ capacity, bids, by }) => {
      const [before, after] = [solve({ capacity, bids }).exact, solve({ capacity: capacity + by, bids }).exact];
      before.forEach((x, index) => {
        expect(after[index]).toBeGreaterThanOrEqual(x - EPS);
      });
    });
  });

  test('P6: one pod goes, and no other has less', () => {
    holds(withBid(filledInstance), ({ capacity, bids, index }) => {
      const before = solve({ capacity, bids }).exact.filter((_, at) => at !== index);
      const after = solve({ capacity, bids: bids.filter((_, at) => at !== index) }).exact;
      before.forEach((x, at) => {
        expect(after[at]).toBeGreaterThanOrEqual(x - EPS);
      });
    });
  });

  test('P7: more weight never costs its owner, and never helps another', () => {
    holds(withBid(filledInstance), ({ capacity, bids, index, by }) => {
      const heavier = replace(bids, index, ({ weight }) => ({ weight: weight + by / 100 }));
      compareOne(solve({ capacity, bids }).exact, solve({ capacity, bids: heavier }).exact, index);
    });
  });

  test('P8: a larger want never costs its owner nor helps another, and moves no more than twice itself', () => {
    holds(withBid(filledInstance), ({ capacity, bids, index, by }) => {
      const wanting = replace(bids, index, ({ max }) => ({ max: max + by }));
      const [before, after] = [solve({ capacity, bids }).exact, solve({ capacity, bids: wanting }).exact];
      compareOne(before, after, index);
      expect(sum(before.map((x, at) => Math.abs((after[at] ?? 0) - x)))).toBeLessThanOrEqual(2 * by + EPS);
    });
  });

  test('P9: a larger claim never costs its owner', () => {
    holds(withBid(filledInstance), ({ capacity, bids, index, by }) => {
      const claiming = replace(bids, index, ({ min }) => ({ min: min + by }));
      const [before, after] = [solve({ capacity, bids }), solve({ capacity, bids: claiming })];
      // Where even floors do not fit any more, nothing else can be promised.
      if (after.overcommitted) return;
      expect(after.exact[index]).toBeGreaterThanOrEqual((before.exact[index] ?? 0) - EPS);
    });
  });

  test('P10: larger units scale the answer, larger weights change nothing', () => {
    holds(fc.tuple(anyInstance, fc.integer({ min: 2, max: 9 })), ([{ capacity, bids }, factor]) => {
      const { exact } = solve({ capacity, bids });
      const scaled = bids.map((bid) => ({ ...bid, min: factor * bid.min, max: factor * bid.max }));
      const large = solve({ capacity: factor * capacity, bids: scaled, hardFloor: 10 * factor }).exact;
      const heavy = solve({ capacity, bids: bids.map((bid) => ({ ...bid, weight: bid.weight * factor })) }).exact;
      exact.forEach((x, index) => {
        expect(large[index]).toBeCloseTo(factor * x, 4);
        expect(heavy[index]).toBeCloseTo(x, 5);
      });
    });
  });

  test('P11: a bound that does not bind may be lowered to where it almost does', () => {
    holds(withBid(filledInstance), ({ capacity, bids, index }) => {
      const { exact, mode } = solve({ capacity, bids });
      const x = exact[index] ?? 0;
      if (mode !== 'congested' || x >= upper(bids[index], capacity) - EPS) return;
      const lowered = solve({ capacity, bids: replace(bids, index, () => ({ max: Math.ceil(x + EPS) })) }).exact;
      exact.forEach((value, at) => {
        expect(lowered[at]).toBeCloseTo(value, 4);
      });
    });
  });

  test('P12: the order of bids does not matter, not even to the last millicore', () => {
    holds(fc.tuple(anyInstance, fc.integer()), ([{ capacity, bids }, seed]) => {
      const shuffled = [...bids].sort((a, b) => hash(a.uid, seed) - hash(b.uid, seed));
      const byUid = new Map(solve({ capacity, bids: shuffled }).shares.map((share, at) => [shuffled[at]?.uid, share]));
      expect(bids.map(({ uid }) => byUid.get(uid))).toEqual([...solve({ capacity, bids }).shares]);
    });
  });

  test('P13: rounding keeps the sum and the bounds and moves nobody by a whole quantum', () => {
    holds(fc.tuple(anyInstance, fc.constantFrom(1 as const, 10 as const)), ([{ capacity, bids }, quantum]) => {
      const { shares, exact, overcommitted } = solve({ capacity, bids, quantum });
      if (overcommitted) return;
      expect(sum(shares)).toBeCloseTo(sum(exact), 4);
      expect(sum(shares)).toBeLessThanOrEqual(capacity);
      shares.forEach((share, index) => {
        expect(share % quantum).toBe(0);
        expect(Math.abs(share - (exact[index] ?? Number.NaN))).toBeLessThan(quantum);
      });
    });
  });

  test('P14: nothing jumps where claims just fit, nor where wants do', () => {
    holds(anyInstance, ({ bids }) => {
      const claims = sum(bids.map(({ min }) => min));
      const wants = sum(bids.map(({ min, max }) => Math.max(min, Math.min(max, 3000))));
      const finite = bids.map((bid) => ({ ...bid, max: Math.min(bid.max, 3000) }));
      for (const capacity of [claims, wants]) {
        if (capacity < 10 * bids.length + 1) continue;
        const at = [-1, 0, 1].map((step) => solve({ capacity: capacity + step, bids: finite }).exact);
        bids.forEach((_, index) => {
          const [before = 0, here = 0, after = 0] = at.map((exact) => exact[index]);
          expect(Math.abs(here - before)).toBeLessThanOrEqual(1 + EPS);
          expect(Math.abs(after - here)).toBeLessThanOrEqual(1 + EPS);
        });
      }
    });
  });
});

test('P4: in all, the oracle was asked more than 20,000 times', () => {
  expect(compared()).toBeGreaterThan(20_000);
});

function compareOne(before: readonly number[], after: readonly number[], index: number): void {
  before.forEach((x, at) => {
    if (at === index) expect(after[at]).toBeGreaterThanOrEqual(x - EPS);
    else expect(after[at]).toBeLessThanOrEqual(x + EPS);
  });
}

function hash(text: string, seed: number): number {
  let value = seed | 0;
  for (const letter of text) value = Math.imul(value ^ letter.charCodeAt(0), 2_654_435_761);
  return value;
}

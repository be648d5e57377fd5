import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NodeClass, PodRecord } from '../../model/records.ts';
import { createSides } from '../../model/sides.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import {
  aDeployment,
  aNode,
  aPod,
  aReplicaSet,
  aStatefulSet,
  aTemplate,
  CAPACITY_TYPE,
  someSettings,
} from '../../model/testing/records.ts';
import { actualSide, assignSlots, type Occupant, occupantsOf, statefulSlot } from './assignment.ts';
import { countsFor, type SlotRule, sideOfSlot } from './slots.ts';

/** Slots of 10 replicas: o s s o s s o s s s. */
const rule: SlotRule = {
  spotPercentage: 70,
  minOnDemand: { kind: 'count', count: 1 },
  rounding: 'floor',
  basis: 'total',
};
const web = aDeployment();
const replicaSet = aReplicaSet(web);
const sides = createSides(someSettings().nodeClasses);

describe('actualSide', () => {
  const view = createSnapshot({ nodes: [aNode('s', 'spot'), aNode('o', 'on-demand'), aNode('x', undefined)] });
  const pinned = (side: string): Partial<PodRecord> => ({
    template: aTemplate({ nodeSelector: { [CAPACITY_TYPE]: side } }),
  });

  test.each<[string, Partial<PodRecord>, NodeClass]>([
    ['bound to a spot node', { nodeName: 's' }, 'spot'],
    ['bound to an on-demand node', { nodeName: 'o' }, 'on-demand'],
    ['bound to a node of no class', { nodeName: 'x', capacity: 'spot' }, 'unknown'],
    ['bound to a node nobody knows', { nodeName: 'gone', capacity: 'on-demand' }, 'unknown'],
    ['bound against its stamp and pin', { nodeName: 's', capacity: 'on-demand', ...pinned('on-demand') }, 'spot'],
    ['pending and pinned', { ...pinned('on-demand'), capacity: 'spot' }, 'on-demand'],
    ['pending and stamped', { capacity: 'spot' }, 'spot'],
    ['pending, neither pinned nor stamped', {}, 'unknown'],
    ['pending and pinned to nothing known', { ...pinned('lunar'), capacity: 'spot' }, 'spot'],
  ])('case 36: a pod %s', (_, changes, expected) => {
    expect(actualSide(view, sides, aPod(replicaSet, 'p', changes))).toBe(expected);
  });
});

describe('occupantsOf', () => {
  const view = createSnapshot({ nodes: [aNode('s', 'spot')] });

  test('case 34: case 59: hazard H25: terminating, failed and ended pods hold no slot', () => {
    const pods = [
      aPod(replicaSet, 'a', { nodeName: 's', slot: 1 }),
      aPod(replicaSet, 'b', { nodeName: 's', slot: 2, deletingAt: 1 }),
      aPod(replicaSet, 'c', { nodeName: 's', slot: 3, phase: 'Failed' }),
      aPod(replicaSet, 'd', { nodeName: 's', slot: 4, phase: 'Succeeded' }),
    ];
    expect(occupantsOf(view, sides, web, pods).map(({ slot }) => slot)).toEqual([1]);
  });

  test('a StatefulSet’s slots follow from ordinals, whatever the stamp says', () => {
    const db = aStatefulSet();
    const pods = [aPod({ ...db, kind: 'StatefulSet' }, 'db-3', { nodeName: 's', slot: 9 })];
    expect(occupantsOf(view, sides, db, pods).map(({ slot }) => slot)).toEqual([4]);
  });
});

describe('statefulSlot', () => {
  test.each([
    [0, 'db-0', 1],
    [0, 'db-4', 5],
    [5, 'db-5', 1],
    [5, 'db-4', undefined],
    [0, 'db-x', undefined],
  ])('with ordinals from %i, %s has slot %j', (start, name, expected) => {
    const rollout = { type: 'StatefulSet', start, partition: 0, onDelete: false, orderedReady: true } as const;
    expect(statefulSlot(aStatefulSet({ rollout }), name)).toBe(expected);
  });
});

const occupant = (id: string, side: NodeClass, slot?: number, since = 0): Occupant => ({
  pod: aPod(replicaSet, id, { uid: id }),
  slot,
  side,
  since,
  id,
});
const heldBy = (assignment: ReturnType<typeof assignSlots>): Record<string, number> =>
  Object.fromEntries(assignment.placed.map(({ id, held }) => [id, held]));

describe('assignSlots', () => {
  test('a pod whose stamp is right keeps its slot', () => {
    const assignment = assignSlots(rule, 4, [occupant('a', 'spot', 3), occupant('b', 'on-demand', 1)]);
    expect(heldBy(assignment)).toEqual({ a: 3, b: 1 });
    expect(assignment.free).toEqual({ spot: [2], onDemand: [4] });
    expect(assignment.nextAbove).toBe(5);
  });

  test('the highest slot is kept like any other, though a lower one of its side is free', () => {
    const assignment = assignSlots(rule, 3, [occupant('a', 'spot', 3)]);
    expect(heldBy(assignment)).toEqual({ a: 3 });
    expect(assignment.free).toEqual({ spot: [2], onDemand: [1] });
  });

  test('a pod without a stamp takes a virtual slot of its side, eldest first', () => {
    const assignment = assignSlots(rule, 5, [
      occupant('young', 'spot', undefined, 9),
      occupant('old', 'spot', undefined, 1),
    ]);
    expect(heldBy(assignment)).toEqual({ old: 2, young: 3 });
  });

  test('of two pods with one stamp the eldest keeps it, the other takes a virtual one', () => {
    const assignment = assignSlots(rule, 5, [occupant('young', 'spot', 2, 9), occupant('old', 'spot', 2, 1)]);
    expect(heldBy(assignment)).toEqual({ old: 2, young: 3 });
  });

  test('a pod goes before a claim for the same slot, however old the claim', () => {
    const claim: Occupant = { ...occupant('claim', 'spot', 2, 0), pod: undefined };
    expect(heldBy(assignSlots(rule, 5, [claim, occupant('pod', 'spot', 2, 9)]))).toEqual({ pod: 2, claim: 3 });
  });

  test('a pod on the wrong side of its stamp takes a slot of its side', () => {
    const assignment = assignSlots(rule, 4, [occupant('a', 'spot', 1)]);
    expect(heldBy(assignment)).toEqual({ a: 2 });
    expect(assignment.free).toEqual({ spot: [3], onDemand: [1, 4] });
  });

  test('who finds no slot of its side stands in one of the other side', () => {
    const all = ['a', 'b', 'c', 'd'].map((id, index) => occupant(id, 'spot', undefined, index));
    const assignment = assignSlots(rule, 4, all);
    expect(assignment.placed.map(({ id, held, wanted }) => [id, held, wanted])).toEqual([
      ['a', 2, 'spot'],
      ['b', 3, 'spot'],
      ['c', 1, 'on-demand'],
      ['d', 4, 'on-demand'],
    ]);
    expect(assignment.free).toEqual({ spot: [], onDemand: [] });
  });

  test('a pod of unknown side keeps its stamp, and yields it to one that is known', () => {
    const lone = assignSlots(rule, 4, [occupant('x', 'unknown', 3)]);
    expect(heldBy(lone)).toEqual({ x: 3 });
    const rivals = assignSlots(rule, 4, [occupant('x', 'unknown', 3, 0), occupant('s', 'spot', 3, 5)]);
    // Not slot 1: of what is left, slots of on-demand are taken last.
    expect(heldBy(rivals)).toEqual({ s: 3, x: 2 });
  });

  test('more pods than replicas stand above, with their own slot where they have one', () => {
    const assignment = assignSlots(rule, 1, [
      occupant('a', 'on-demand', 1),
      occupant('b', 'spot', 9),
      occupant('c', 'spot'),
    ]);
    expect(heldBy(assignment)).toEqual({ a: 1, b: 9, c: 2 });
    expect(assignment.nextAbove).toBe(3);
  });

  test('a stamp above the replicas is not handed out again while its pod lives', () => {
    const assignment = assignSlots(rule, 2, [occupant('a', 'spot', 3)]);
    expect(heldBy(assignment)).toEqual({ a: 2 });
    expect(assignment.nextAbove).toBe(4);
  });

  test('a StatefulSet’s slots are never exchanged', () => {
    const assignment = assignSlots(rule, 4, [occupant('a', 'spot', 1), occupant('b', 'on-demand', 2)], { fixed: true });
    expect(heldBy(assignment)).toEqual({ a: 1, b: 2 });
    expect(assignment.placed.map(({ wanted }) => wanted)).toEqual(['on-demand', 'spot']);
  });

  test('for any pods of a StatefulSet each stands in the slot of its ordinal, and the others are free', () => {
    const pod = fc.tuple(fc.integer({ min: 1, max: 14 }), fc.constantFrom<NodeClass>('spot', 'on-demand', 'unknown'));
    const pods = fc.uniqueArray(pod, { selector: ([slot]) => slot, maxLength: 14 });
    fc.assert(
      fc.property(pods, fc.integer({ min: 0, max: 12 }), (placed, replicas) => {
        const slots = placed.map(([slot]) => slot);
        const occupants = placed.map(([slot, side]) => occupant(`p${slot}`, side, slot));
        const assignment = assignSlots(rule, replicas, occupants, { fixed: true });
        expect(assignment.placed.map(({ held }) => held)).toEqual(slots);
        const { spot, onDemand } = assignment.free;
        const all = Array.from({ length: replicas }, (_, index) => index + 1);
        expect([...spot, ...onDemand].sort((a, b) => a - b)).toEqual(all.filter((slot) => !slots.includes(slot)));
        expect(assignment.nextAbove).toBeGreaterThan(replicas);
        expect(slots).not.toContain(assignment.nextAbove);
      }),
      { numRuns: 1000 },
    );
  });

  const anyOccupants = fc
    .array(
      fc.record({
        side: fc.constantFrom<NodeClass>('spot', 'on-demand', 'unknown'),
        slot: fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined }),
        since: fc.integer({ min: 0, max: 5 }),
      }),
      { maxLength: 14 },
    )
    .map((list) => list.map((each, index) => occupant(`p${index}`, each.side, each.slot, each.since)));

  test('everybody gets one slot, nobody shares one, and free slots are nobody’s', () => {
    fc.assert(
      fc.property(anyOccupants, fc.integer({ min: 0, max: 12 }), (occupants, replicas) => {
        const { placed, free, nextAbove } = assignSlots(rule, replicas, occupants);
        const held = placed.map((each) => each.held);
        expect(placed.map(({ id }) => id).sort()).toEqual(occupants.map(({ id }) => id).sort());
        expect(new Set(held).size).toBe(held.length);
        const all = [...held, ...free.spot, ...free.onDemand].filter((slot) => slot <= replicas).sort((a, b) => a - b);
        expect(all).toEqual(Array.from({ length: replicas }, (_, index) => index + 1));
        expect(held).not.toContain(nextAbove);
        for (const slot of free.spot) expect(sideOfSlot(rule, slot)).toBe('spot');
        for (const slot of free.onDemand) expect(sideOfSlot(rule, slot)).toBe('on-demand');
      }),
      { numRuns: 2000 },
    );
  });

  test('of a workload that asks for any number of replicas no more slots are gone through than a cluster has pods', () => {
    const { placed, free } = assignSlots(rule, 1_000_000, [occupant('a', 'spot', 2, 0), occupant('b', 'spot', 2, 1)]);
    expect(placed.map(({ held, wanted }) => [held, wanted])).toEqual([
      [2, 'spot'],
      [3, 'spot'],
    ]);
    expect(free.spot.length + free.onDemand.length).toBe(150_000 - 2);
  });

  test('no more pods stand on a wrong side than the counts force', () => {
    fc.assert(
      fc.property(anyOccupants, fc.integer({ min: 0, max: 12 }), (all, replicas) => {
        const occupants = all.filter(({ side }) => side !== 'unknown').slice(0, replicas);
        const target = countsFor(rule, replicas);
        const spot = occupants.filter(({ side }) => side === 'spot').length;
        const forced = Math.max(0, spot - target.spot) + Math.max(0, occupants.length - spot - target.onDemand);
        const { placed } = assignSlots(rule, replicas, occupants);
        expect(placed.filter(({ side, wanted }) => side !== wanted)).toHaveLength(forced);
      }),
      { numRuns: 2000 },
    );
  });

  test('the order in which occupants are listed does not matter', () => {
    fc.assert(
      fc.property(anyOccupants, fc.integer({ min: 0, max: 12 }), (occupants, replicas) => {
        expect(heldBy(assignSlots(rule, replicas, [...occupants].reverse()))).toEqual(
          heldBy(assignSlots(rule, replicas, occupants)),
        );
      }),
      { numRuns: 1000 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import { aDeployment, aPod, aReplicaSet } from '../../model/testing/records.ts';
import { assignSlots, occupantsOf } from './assignment.ts';
import type { Claim } from './claims.ts';
import { freeSlots, takeCensus } from './free-slots.ts';
import type { SlotRule } from './slots.ts';
import { createWorld, ON_DEMAND_NODE, SPOT_NODE, UNKNOWN_NODE, viewOf } from './testing/world.ts';

/** Slots of 10 replicas: o s s o s s o s s s. */
const rule: SlotRule = {
  spotPercentage: 70,
  minOnDemand: { kind: 'count', count: 1 },
  rounding: 'floor',
  basis: 'total',
};
const replicaSet = aReplicaSet(aDeployment());
const world = createWorld(aDeployment());
const view = viewOf(world);
const { sides } = world;
const pod = (id: string, nodeName: string | undefined, slot?: number, changes: Partial<PodRecord> = {}): PodRecord =>
  aPod(replicaSet, id, { uid: id, nodeName, slot, ...changes });
const claim = (uid: string, slot: number, side: Claim['side']): Claim => ({
  uid,
  workloadUid: 'w',
  revision: 'rev1',
  slot,
  side,
  at: 0,
});

function free(replicas: number, pods: readonly PodRecord[], claims: readonly Claim[] = []) {
  const workload = aDeployment({ replicas });
  const { spot, onDemand, above } = freeSlots({
    view,
    sides,
    workload,
    rule,
    census: takeCensus(view, sides, pods),
    claims,
  });
  return [spot, onDemand, above()];
}

describe('takeCensus', () => {
  test('counts live pods and those on on-demand; ended and terminating ones are nobody', () => {
    const pods = [
      pod('a', SPOT_NODE),
      pod('b', ON_DEMAND_NODE),
      pod('c', ON_DEMAND_NODE, 1, { deletingAt: 1 }),
      pod('d', ON_DEMAND_NODE, 1, { phase: 'Failed' }),
      pod('e', UNKNOWN_NODE),
      pod('f', undefined, 1, { capacity: 'on-demand' }),
    ];
    const { live, onDemand, codes } = takeCensus(view, sides, pods);
    expect([live, onDemand]).toEqual([4, 2]);
    expect([...codes].map((code) => code > 0)).toEqual([true, true, false, false, true, true]);
  });
});

describe('freeSlots', () => {
  test('of nobody: the first of each side', () => {
    expect(free(10, [])).toEqual([2, 1, 11]);
  });

  test('of any number of replicas no more are gone through than a cluster has pods', () => {
    expect(free(1_000_000, [])).toEqual([2, 1, 150_001]);
  });

  test('where everybody stands in its own slot: what is left', () => {
    expect(free(4, [pod('a', ON_DEMAND_NODE, 1), pod('b', SPOT_NODE, 3)], [claim('c', 2, 'spot')])).toEqual([
      undefined,
      4,
      5,
    ]);
  });

  test('a full revision has none but those above', () => {
    expect(free(2, [pod('a', ON_DEMAND_NODE, 1), pod('b', SPOT_NODE, 2)])).toEqual([undefined, undefined, 3]);
  });

  test.each<[string, readonly PodRecord[], readonly Claim[], readonly (number | undefined)[]]>([
    ['a pod on the wrong side of its slot', [pod('a', SPOT_NODE, 1)], [], [3, 1, 5]],
    ['two pods with one slot', [pod('a', SPOT_NODE, 2), pod('b', SPOT_NODE, 2)], [], [undefined, 1, 5]],
    ['a pod without a slot', [pod('a', SPOT_NODE)], [], [3, 1, 5]],
    ['a pod with a slot above', [pod('a', SPOT_NODE, 9)], [], [3, 1, 5]],
    ['a claim for a slot that a pod holds', [pod('a', SPOT_NODE, 2)], [claim('c', 2, 'spot')], [undefined, 1, 5]],
    ['a claim of the wrong side, after a change of percentage', [], [claim('c', 2, 'on-demand')], [2, 4, 5]],
  ])('otherwise as they are assigned: %s', (_, pods, claims, expected) => {
    expect(free(4, pods, claims)).toEqual(expected);
  });

  const anyPods = fc
    .array(
      fc.record({
        node: fc.constantFrom(SPOT_NODE, ON_DEMAND_NODE, UNKNOWN_NODE),
        slot: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
        isGoing: fc.boolean(),
      }),
      { maxLength: 10 },
    )
    .map((list) =>
      list.map(({ node, slot, isGoing }, index) =>
        pod(`p${index}`, node, slot, { deletingAt: isGoing ? 1 : undefined }),
      ),
    );
  /** Pods that stand right more often than chance would have it. */
  const orderlyPods = fc
    .subarray([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    .map((slots) => slots.map((slot) => pod(`p${slot}`, [1, 4, 7].includes(slot) ? ON_DEMAND_NODE : SPOT_NODE, slot)));
  const anyClaims = fc
    .array(
      fc.record({ slot: fc.integer({ min: 1, max: 12 }), side: fc.constantFrom<Claim['side']>('spot', 'on-demand') }),
      { maxLength: 3 },
    )
    .map((list) => list.map(({ slot, side }, index) => claim(`c${index}`, slot, side)));

  test('is always what the full assignment says', () => {
    fc.assert(
      fc.property(
        fc.oneof(anyPods, orderlyPods),
        anyClaims,
        fc.integer({ min: 0, max: 11 }),
        (pods, claims, replicas) => {
          const workload = aDeployment({ replicas });
          const claimed = claims.map(({ slot, side, at, uid }) => ({ pod: undefined, slot, side, since: at, id: uid }));
          const full = assignSlots(rule, replicas, [...occupantsOf(view, sides, workload, pods), ...claimed]);
          expect(free(replicas, pods, claims)).toEqual([full.free.spot[0], full.free.onDemand[0], full.nextAbove]);
        },
      ),
      { numRuns: 3000 },
    );
  });
});

test('hazard H5: temporary cover keeps its slot of spot, so that a free place of on-demand shows as such', () => {
  const cover = pod('a', ON_DEMAND_NODE, 2, { fallback: true });
  expect(free(3, [cover])).toEqual([3, 1, 4]);
  expect(free(3, [pod('a', ON_DEMAND_NODE, 2)])).toEqual([2, undefined, 4]);
  expect(free(3, [], [{ ...claim('c', 2, 'on-demand'), cover: true }])).toEqual([3, 1, 4]);
});

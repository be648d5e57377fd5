import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../lib/random.ts';
import type { Side } from '../../model/records.ts';
import { aDeployment, aNode, aReplicaSet } from '../../model/testing/records.ts';
import { decideAdmission } from './admission.ts';
import type { AdmissionDecision } from './admission-decision.ts';
import { countsFor, type SlotRule } from './slots.ts';
import {
  admit,
  admitSteered,
  createWorld,
  fill,
  inputFor,
  mix,
  podFrom,
  remove,
  run,
  runUnsteered,
  scale,
  UNKNOWN_NODE,
  viewOf,
  type World,
  worldOf,
} from './testing/world.ts';

type Steered = Extract<AdmissionDecision, { kind: 'steered' }>;

const ruleOf = (spotPercentage: number, count: number): SlotRule => ({
  spotPercentage,
  minOnDemand: { kind: 'count', count },
  rounding: 'ceil',
  basis: 'total',
});
const count = (decisions: readonly Steered[], side: Side): number =>
  decisions.filter((each) => each.side === side).length;
const burst = (world: World, requests: number, stale = viewOf(world)): Steered[] =>
  Array.from({ length: requests }, () => admitSteered(world, { view: stale }));

describe('bursts', () => {
  test('case 28: 10 concurrent requests against an empty view: exactly 7/3', () => {
    const decisions = burst(worldOf(10, 70, 1), 10);
    expect([count(decisions, 'spot'), count(decisions, 'on-demand')]).toEqual([7, 3]);
  });

  test('case 28: 9 concurrent requests against a view that shows one pod for ever: exactly 7/3', () => {
    const world = worldOf(10, 70, 1);
    run(world);
    const decisions = burst(world, 9);
    expect(count(decisions, 'spot')).toBe(7);
  });

  test('case 29: pods appearing in any order while others are reserved are not counted twice: 100 % above 3 of 10 is 7/3', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = createSeededRandom(seed);
      const world = worldOf(10, 100, 3);
      const coming: Steered[] = [];
      const decisions: Steered[] = [];
      while (decisions.length < 10) {
        const decision = admitSteered(world);
        decisions.push(decision);
        coming.push(decision);
        while (coming.length > 0 && random.next() < 0.5) {
          const [arrived] = coming.splice(Math.floor(random.next() * coming.length), 1);
          if (arrived !== undefined) world.pods.push(podFrom(world, arrived));
        }
      }
      expect([count(decisions, 'spot'), count(decisions, 'on-demand')], `seed ${seed}`).toEqual([7, 3]);
    }
  });

  test.each([
    [10, 70, 1, 7, 3],
    [20, 80, 2, 16, 4],
    [6, 50, 1, 3, 3],
    [10, 90, 0, 9, 1],
  ])('case 27: bug 1: %i pods at %i %% above %i: %i/%i', (replicas, percentage, min, spot, onDemand) => {
    const decisions = burst(worldOf(replicas, percentage, min), replicas);
    expect([count(decisions, 'spot'), count(decisions, 'on-demand')]).toEqual([spot, onDemand]);
  });

  test('case 27: five workloads at once do not disturb each other', () => {
    const { ledger } = worldOf(4, 50, 1);
    const worlds = Array.from({ length: 5 }, (_, index): World => {
      const world = worldOf(4, 50, 1);
      const workload = { ...world.workload, uid: `uid-${index}` };
      return { ...world, ledger, workload, replicaSets: [aReplicaSet(workload)] };
    });
    const decisions = worlds.map((): Steered[] => []);
    for (let index = 0; index < 4; index++) {
      for (const [at, world] of worlds.entries()) {
        world.requests = 100 * (at + 1) + index;
        decisions[at]?.push(...burst(world, 1));
      }
    }
    expect(decisions.map((each) => count(each, 'spot'))).toEqual([2, 2, 2, 2, 2]);
  });

  test('hazard H1: every prefix of a burst is exact', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 100 }),
        fc.integer({ min: 0, max: 8 }),
        (replicas, percentage, min) => {
          const world = worldOf(replicas, percentage, min);
          const decisions = burst(world, replicas);
          decisions.forEach((_, index) => {
            expect(count(decisions.slice(0, index + 1), 'spot')).toBe(
              countsFor(ruleOf(percentage, min), index + 1).spot,
            );
          });
        },
      ),
      { numRuns: 300 },
    );
  });

  test('hazard H2: bug 7: a scale-up in the middle of a burst that the view has not seen: still exact', () => {
    const world = worldOf(3, 70, 1);
    const stale = viewOf(world);
    const decisions = burst(world, 10, stale);
    expect([count(decisions, 'spot'), count(decisions, 'on-demand')]).toEqual([7, 3]);
    expect(decisions.map(({ slot }) => slot)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

describe('replacements', () => {
  test.each<[Side]>([['on-demand'], ['spot']])(
    'case 34: case 35: at 7/3 the replacement of a lost %s pod goes where it was',
    (lost) => {
      const world = worldOf(10, 70, 1);
      fill(world);
      const victim = world.pods.find(({ capacity }) => capacity === lost);
      if (victim !== undefined) remove(world, victim);
      expect(admitSteered(world).side).toBe(lost);
    },
  );

  test('case 34: a pod that is still terminating is not counted: one replica above a floor of 1 stays on on-demand', () => {
    const world = worldOf(1, 50, 1);
    const pod = run(world);
    world.pods = [{ ...pod, deletingAt: world.now }];
    expect(admitSteered(world)).toMatchObject({ slot: 1, side: 'on-demand' });
  });

  test('any one pod lost is replaced on its side and in its slot', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 15 }),
        fc.integer({ min: 0, max: 100 }),
        fc.integer({ min: 0, max: 5 }),
        fc.nat(),
        (replicas, percentage, min, which) => {
          const world = worldOf(replicas, percentage, min);
          fill(world);
          const victim = world.pods[which % replicas];
          if (victim === undefined) return;
          remove(world, victim);
          expect(admitSteered(world)).toMatchObject({ slot: victim.slot, side: victim.capacity });
        },
      ),
      { numRuns: 300 },
    );
  });

  test('case 36: hazard H31: unstamped pods are counted by the node they run on', () => {
    const world = worldOf(10, 70, 1);
    for (let index = 0; index < 7; index++) runUnsteered(world, 'spot');
    expect(burst(world, 3).map(({ side }) => side)).toEqual(['on-demand', 'on-demand', 'on-demand']);
  });

  test('pods on nodes of no known class never satisfy the floor', () => {
    const world = worldOf(4, 50, 2);
    runUnsteered(world, 'spot', { nodeName: UNKNOWN_NODE });
    runUnsteered(world, 'spot', { nodeName: UNKNOWN_NODE });
    expect(burst(world, 2).map(({ side }) => side)).toEqual(['on-demand', 'on-demand']);
  });
});

describe('claims that lead nowhere', () => {
  test('case 44: hazard H15: claims of denied pods expire and skew nothing for good', () => {
    const world = worldOf(10, 70, 1);
    burst(world, 3);
    world.now += world.settings.claimTtlMillis;
    expect(burst(world, 10).map(({ slot }) => slot)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('hazard H15: with all slots taken, claims unseen for seconds are taken over, oldest first', () => {
    const world = worldOf(4, 50, 1);
    burst(world, 2);
    world.now += 6000;
    const decisions = burst(world, 4);
    expect(decisions.map(({ slot }) => slot)).toEqual([3, 4, 1, 2]);
    expect(world.ledger.size()).toBe(4);
  });

  test('fresh ones are not: their pods are merely not visible yet', () => {
    const world = worldOf(2, 50, 1);
    burst(world, 2);
    world.now += 4999;
    expect(admitSteered(world).slot).toBe(3);
  });

  test('a dry run takes nothing over', () => {
    const world = worldOf(1, 50, 0);
    burst(world, 1);
    world.now += 6000;
    expect(admitSteered(world, { dryRun: true }).slot).toBe(1);
    expect(world.ledger.size()).toBe(1);
  });
});

describe('room', () => {
  const full = { allocatable: { cpuMillis: 0, memoryBytes: 0 } };
  const withNodes = (spot: object, onDemand: object): World => {
    const world = worldOf(2, 50, 1);
    world.nodes = [aNode('s', 'spot', spot), aNode('o', 'on-demand', onDemand)];
    return world;
  };

  test('where the wanted side has none, a free slot of the other side that has is taken', () => {
    const decision = admitSteered(withNodes({}, full));
    expect(decision).toMatchObject({ slot: 2, side: 'spot' });
  });

  test.each([
    ['both are full', full, full, 'on-demand'],
    ['both have room', {}, {}, 'on-demand'],
    ['spot has none', full, {}, 'on-demand'],
  ] as const)('%s', (_, spot, onDemand, expected) => {
    expect(admitSteered(withNodes(spot, onDemand)).side).toBe(expected);
  });

  test('hazard H7: the slot of the floor stays its own: the next pod waits for on-demand', () => {
    const world = withNodes({}, full);
    expect(burst(world, 2).map(({ side }) => side)).toEqual(['spot', 'on-demand']);
  });

  test('an autoscaler’s side is never without room', () => {
    const { nodeClasses } = worldOf(1, 0, 0).settings;
    const world = createWorld(aDeployment(), {
      nodeClasses: { ...nodeClasses, provisionable: { spot: true, onDemand: true } },
    });
    world.nodes = [];
    expect(admitSteered(world).side).toBe('on-demand');
  });
});

describe('scaling', () => {
  test('case 27: bug 27: 1 -> 10, 5 -> 15 -> 8, 12 -> 6 -> 3: exact at every rest, highest slots going first', () => {
    for (const [percentage, sizes] of [
      [70, [1, 10]],
      [70, [5, 15, 8]],
      [33, [12, 6, 3]],
    ] as const) {
      const world = worldOf(1, percentage, 1);
      for (const size of sizes) {
        scale(world, size);
        fill(world);
        world.pods = world.pods.sort((a, b) => b.deletionCost - a.deletionCost).slice(0, size);
        const target = countsFor(ruleOf(percentage, 1), size);
        expect(mix(world)).toEqual([target.spot, target.onDemand]);
      }
    }
  });
});

test('a decision for one revision counts the pods of the others', () => {
  const world = worldOf(4, 50, 1);
  fill(world);
  const [first] = world.replicaSets;
  if (first !== undefined) world.replicaSets.push({ ...first, uid: 'uid-2', revision: 'rev2', name: 'web-rev2' });
  const freed = world.pods.find(({ capacity }) => capacity === 'spot');
  if (freed !== undefined) remove(world, freed);
  const decision = admit(world, { revision: 'rev2' });
  expect(decision).toMatchObject({ side: 'spot', slot: freed?.slot });
});

test('the first pod of a new revision does not take the slots of the old one for its own', () => {
  const world = worldOf(3, 34, 0);
  fill(world);
  const [first] = world.replicaSets;
  if (first === undefined) throw new Error('the world has a ReplicaSet');
  const view = viewOf(world);
  // Its ReplicaSet was read live; the view knows the old one only.
  const owner = {
    kind: 'workload',
    workload: world.workload,
    replicaSet: { ...first, uid: 'uid-2' },
    revision: 'rev2',
  } as const;
  const decision = decideAdmission({ ...inputFor(world, { view }), owner });
  expect(decision).toMatchObject({ slot: 2, side: 'on-demand', explanation: { numbers: { live: 3 } } });
});

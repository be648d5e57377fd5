/** Admission while spot cannot be had: on-demand covers, slots stay what they are, and all of it is undone later. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nodeClassProfile } from '../../model/node-profiles.ts';
import { isLive } from '../../model/owners.ts';
import { aDeployment, aStatefulSet, aTemplate, CAPACITY_TYPE } from '../../model/testing/records.ts';
import { decideAdmission } from './admission.ts';
import type { SpotMemory } from './spot-memory.ts';
import { aSpotMemory, MINUTE } from './testing/availability.ts';
import {
  type AdmitOptions,
  createWorld,
  evictionOf,
  inputFor,
  mix,
  nodeOf,
  plan,
  podFrom,
  remove,
  restampAll,
  restampsOf,
  type World,
  worldOf,
} from './testing/world.ts';

function admitWith(world: World, spot: SpotMemory, options: AdmitOptions = {}) {
  const decision = decideAdmission({ ...inputFor(world, options), spot });
  if (decision.kind !== 'steered') throw new Error(`not steered: ${decision.message}`);
  return decision;
}

function runWith(world: World, spot: SpotMemory, options: AdmitOptions = {}) {
  const decision = admitWith(world, spot, options);
  const fallback = decision.stamps['spotalis.io/fallback'] === 'true';
  const name = options.pod?.name;
  const pod = podFrom(world, decision, { fallback, ...(name !== undefined && { name }) });
  world.pods.push(pod);
  world.ledger.podSeen(pod.admissionId ?? '');
  return pod;
}

function closedFor(world: World): SpotMemory {
  const spot = aSpotMemory();
  spot.recordStranded(world.workload.uid, world.now - 5 * MINUTE, 'shop', world.now);
  return spot;
}

describe('while spot is closed', () => {
  test('hazard H5: all replicas run on on-demand; slots keep their numbers, those of spot are stamped as covered', () => {
    const world = worldOf(10, 70, 1);
    const spot = closedFor(world);
    for (let index = 0; index < 10; index++) runWith(world, spot);
    expect(mix(world)).toEqual([0, 10]);
    expect(world.pods.map(({ slot }) => slot).toSorted((a = 0, b = 0) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
    expect(world.pods.filter(({ fallback }) => fallback)).toHaveLength(7);
    expect(plan(world)).toMatchObject({ drift: 7, spot: { covered: 7 } });
  });

  test('the explanation says so', () => {
    const world = worldOf(1, 100, 0);
    const decision = admitWith(world, closedFor(world));
    expect(decision).toMatchObject({
      side: 'on-demand',
      slot: 1,
      stamps: { 'spotalis.io/capacity': 'on-demand', 'spotalis.io/fallback': 'true' },
      explanation: {
        summary: 'slot 1 on on-demand: temporary cover, as spot has no room at present',
        numbers: { cover: true },
      },
    });
  });

  test('a place of on-demand that is free is taken first, and is no cover', () => {
    const world = worldOf(4, 50, 0);
    const spot = closedFor(world);
    const first = runWith(world, spot);
    expect(first).toMatchObject({ capacity: 'on-demand', fallback: false });
  });

  test('hazard H7: without room on on-demand the pod waits for spot, where it belongs', () => {
    const world = worldOf(1, 100, 0);
    world.nodes = world.nodes.filter(({ name }) => name !== nodeOf('on-demand'));
    expect(admitWith(world, closedFor(world)).side).toBe('spot');
  });

  test('no more than placement.fallback.maxPercent', () => {
    const fallback = { afterMillis: 300_000, returnPerWindow: 1, maxConcurrent: 50, maxPercent: 50 };
    const world = createWorld(aDeployment({ replicas: 10 }), { fallback });
    const spot = closedFor(world);
    for (let index = 0; index < 10; index++) runWith(world, spot);
    // Three of its own and half of seven, rounded up.
    expect(mix(world)).toEqual([3, 7]);
  });

  test.each([3, 10])('hazard H9: a rollout with a surge of %i waits for no spot either', (surge) => {
    const world = worldOf(10, 70, 1);
    const spot = closedFor(world);
    for (let index = 0; index < 10; index++) runWith(world, spot);
    const [first] = world.replicaSets;
    if (first !== undefined) world.replicaSets.push({ ...first, uid: 'uid-2', revision: 'rev2', name: 'web-rev2' });
    const old = [...world.pods];
    for (let index = 0; index < 10; index++) {
      const replaced = world.pods.length === 10 + surge ? old.shift() : undefined;
      if (replaced !== undefined) remove(world, replaced);
      const decision = admitWith(world, spot, { revision: 'rev2' });
      const fallback = decision.stamps['spotalis.io/fallback'] === 'true';
      world.pods.push(podFrom(world, decision, { fallback, revision: 'rev2' }));
    }
    for (const pod of old) remove(world, pod);
    expect(mix(world)).toEqual([0, 10]);
    expect(world.pods.filter(({ fallback }) => fallback)).toHaveLength(7);
  });

  test('hazard H11: a StatefulSet’s ordinals are covered where they are spot', () => {
    const world = createWorld(aStatefulSet({ replicas: 5 }));
    const spot = closedFor(world);
    for (let ordinal = 0; ordinal < 5; ordinal++) runWith(world, spot, { pod: { name: `db-${ordinal}` } });
    expect(mix(world)).toEqual([0, 5]);
    expect(world.pods.map(({ slot }) => slot)).toEqual([1, 2, 3, 4, 5]);
    expect(world.pods.filter(({ fallback }) => fallback)).toHaveLength(3);
  });

  test('hazard H17: a template that names spot itself is respected', () => {
    const world = worldOf(1, 100, 0);
    const template = aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'spot' } });
    expect(admitWith(world, closedFor(world), { pod: { template } })).toMatchObject({
      side: 'spot',
      pinnedByUser: true,
    });
  });

  test('hazard H16: a dry run takes no probe’s turn', () => {
    const world = worldOf(2, 100, 0);
    const spot = closedFor(world);
    world.now += 3 * MINUTE;
    expect(admitWith(world, spot, { dryRun: true }).side).toBe('spot');
    expect(spot.stateOf(world.workload.uid, world.now)).toMatchObject({ kind: 'probing', isTaken: false });
  });

  test('pods that wait already close it without anybody telling', () => {
    const world = worldOf(4, 100, 0);
    const spot = aSpotMemory();
    const stranded = podFrom(world, admitWith(world, spot), {
      nodeName: undefined,
      phase: 'Pending',
      ready: false,
      unschedulableSince: world.now,
    });
    world.pods.push(stranded);
    world.now += 5 * MINUTE;
    expect(runWith(world, spot)).toMatchObject({ capacity: 'on-demand', fallback: true });
  });
});

describe('hazard H6: when the pause is over', () => {
  test('one new pod probes, the others are covered until it has landed', () => {
    const world = worldOf(4, 100, 0);
    const spot = closedFor(world);
    world.now += 3 * MINUTE;
    const sides = Array.from({ length: 3 }, () => runWith(world, spot).capacity);
    expect(sides).toEqual(['spot', 'on-demand', 'on-demand']);
    spot.recordLanded(world.workload.uid, world.now);
    expect(runWith(world, spot).capacity).toBe('spot');
  });

  test('cover goes first when something moves back, and is marked as a return', () => {
    const world = worldOf(4, 50, 0);
    const spot = closedFor(world);
    for (let index = 0; index < 4; index++) runWith(world, spot);
    const eviction = evictionOf(plan(world));
    expect(eviction).toMatchObject({ from: 'on-demand', to: 'spot', isReturn: true });
    expect(world.pods.find(({ uid }) => uid === eviction?.pod.uid)?.fallback).toBe(true);
  });

  test('plain drift is no return', () => {
    const world = worldOf(2, 100, 0);
    const spot = aSpotMemory();
    for (let index = 0; index < 2; index++) runWith(world, spot);
    world.pods = world.pods.map((pod) => ({ ...pod, nodeName: nodeOf('on-demand') }));
    expect(evictionOf(plan(world))?.isReturn).toBeUndefined();
  });

  test('a pod that need not cover any more loses its stamp without being moved', () => {
    const world = worldOf(4, 50, 0);
    const spot = closedFor(world);
    for (let index = 0; index < 4; index++) runWith(world, spot);
    world.workload = { ...world.workload, annotations: { 'spotalis.io/spot-percentage': '0' } };
    expect(evictionOf(plan(world))).toBeUndefined();
    expect(restampsOf(plan(world)).map(({ capacity }) => capacity)).toEqual(['on-demand', 'on-demand']);
  });
});

describe('hazard H8: in a storm', () => {
  function stormy(world: World): SpotMemory {
    const spot = aSpotMemory();
    for (const uid of ['1', '2', '3']) {
      spot.standing(uid, { key: 'a/m5', zone: 'a', instanceType: 'm5.large' });
      spot.gone(uid, true, world.now);
    }
    return spot;
  }

  test('spot is used where a node stands ready', () => {
    const world = worldOf(1, 100, 0);
    expect(admitWith(world, stormy(world)).side).toBe('spot');
  });

  test('else on-demand covers, though an autoscaler promises more', () => {
    const world = createWorld(aDeployment({ replicas: 1, annotations: { 'spotalis.io/spot-percentage': '100' } }), {
      nodeClasses: nodeClassProfile(['karpenter']),
    });
    world.nodes = [];
    expect(admitWith(world, stormy(world)).side).toBe('on-demand');
    expect(admitWith(world, aSpotMemory()).side).toBe('spot');
  });

  test('bug 10: new pods prefer other pools than the one that was hit', () => {
    const world = worldOf(1, 100, 0);
    const { patch } = admitWith(world, stormy(world));
    const affinity = patch.find(({ path }) => path === '/spec/affinity');
    expect(JSON.stringify(affinity)).toContain('"values":["a"]');
    expect(JSON.stringify(affinity)).toContain('preferredDuringSchedulingIgnoredDuringExecution');
  });
});

test('for any history of outages, scale and losses: slots are unique, the floor is kept, and the end is exact with no more moves than covers', () => {
  const anyStep = fc.constantFrom('close', 'pause', 'land', 'add', 'add', 'remove', 'lose', 'scale-up', 'scale-down');
  const anyCase = fc.record({
    percentage: fc.integer({ min: 0, max: 100 }),
    floor: fc.nat({ max: 3 }),
    steps: fc.array(anyStep, { minLength: 10, maxLength: 60 }),
  });
  fc.assert(
    fc.property(anyCase, ({ percentage, floor, steps }) => {
      const world = worldOf(6, percentage, floor);
      const spot = aSpotMemory();
      let covers = 0;
      const complete = (): void => {
        while (world.pods.filter(isLive).length < world.workload.replicas) {
          const pod = runWith(world, spot);
          if (pod.fallback) covers++;
          if (pod.capacity === 'spot') spot.recordLanded(world.workload.uid, world.now);
        }
      };
      const cut = (replicas: number): void => {
        // As the ReplicaSet controller does: the highest slots first.
        const doomed = world.pods
          .toSorted((a, b) => (b.slot ?? 0) - (a.slot ?? 0))
          .slice(0, world.pods.length - replicas);
        world.pods = world.pods.filter((pod) => !doomed.includes(pod));
      };
      const scaleTo = (replicas: number): void => {
        world.workload = { ...world.workload, replicas };
        if (world.pods.length > replicas) cut(replicas);
      };
      for (const step of steps) {
        world.now += MINUTE;
        const { replicas, uid } = world.workload;
        if (step === 'close') spot.recordStranded(uid, world.now - 5 * MINUTE, 'shop', world.now);
        if (step === 'pause') world.now += 60 * MINUTE;
        if (step === 'land') spot.recordLanded(uid, world.now);
        if (step === 'scale-up') scaleTo(Math.min(12, replicas + 2));
        if (step === 'scale-down') scaleTo(Math.max(1, replicas - 2));
        if (step === 'remove') world.pods.shift();
        if (step === 'lose') world.pods = world.pods.filter(({ nodeName }) => nodeName !== nodeOf('spot'));
        complete();
        const held = plan(world).pods.map(({ slot }) => slot);
        expect(new Set(held).size).toBe(held.length);
        restampAll(world);
        expect(mix(world)[1]).toBeGreaterThanOrEqual(plan(world).floor);
      }
      // Spot is back for good.
      world.now += 60 * MINUTE;
      spot.recordLanded(world.workload.uid, world.now);
      let moves = 0;
      for (let eviction = evictionOf(plan(world)); eviction !== undefined; eviction = evictionOf(plan(world))) {
        const { uid } = eviction.pod;
        world.pods = world.pods.filter((pod) => pod.uid !== uid);
        world.now += MINUTE;
        moves++;
        expect(moves).toBeLessThanOrEqual(30);
        complete();
      }
      const { target } = plan(world);
      expect(mix(world)).toEqual([target?.spot, target?.onDemand]);
      expect(moves).toBeLessThanOrEqual(covers);
    }),
    { numRuns: 300 },
  );
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../lib/random.ts';
import { nodeClassProfile } from '../../model/node-profiles.ts';
import type { PodRecord, Side } from '../../model/records.ts';
import { aDeployment, aPod, aStatefulSet, aTemplate, CAPACITY_TYPE, NOON } from '../../model/testing/records.ts';
import type { EvictDecision, RestampDecision } from '../decision.ts';
import type { WorkloadPlan } from './plan.ts';
import {
  createWorld,
  mix,
  nodeOf,
  plan,
  remove,
  run,
  runUnsteered,
  scale,
  UNKNOWN_NODE,
  type World,
} from './testing/world.ts';

const evictionOf = ({ decisions }: WorkloadPlan): EvictDecision | undefined =>
  decisions.find((each) => each.kind === 'evict');
const restampsOf = ({ decisions }: WorkloadPlan): RestampDecision[] =>
  decisions.filter((each) => each.kind === 'restamp');

function worldOf(replicas: number, percentage: number, min: number): World {
  const annotations = { 'spotalis.io/spot-percentage': `${percentage}`, 'spotalis.io/min-on-demand': `${min}` };
  return createWorld(aDeployment({ replicas, annotations }));
}
function annotate(world: World, percentage: number, min: number): void {
  const annotations = { 'spotalis.io/spot-percentage': `${percentage}`, 'spotalis.io/min-on-demand': `${min}` };
  world.workload = { ...world.workload, annotations };
}
const place = (world: World, spot: number, onDemand: number): void => {
  for (let index = 0; index < spot; index++) runUnsteered(world, 'spot', { name: `s${index}`, uid: `s${index}` });
  for (let index = 0; index < onDemand; index++)
    runUnsteered(world, 'on-demand', { name: `o${index}`, uid: `o${index}` });
};
const settle = (world: World): void => {
  while (world.pods.length < world.workload.replicas) run(world);
};

describe('what is seen', () => {
  test('case 46: a workload at rest has nothing to do', () => {
    const world = worldOf(10, 70, 1);
    settle(world);
    expect(plan(world)).toMatchObject({
      target: { spot: 7, onDemand: 3 },
      actual: { spot: 7, onDemand: 3, unknown: 0 },
      floor: 1,
      drift: 0,
      decisions: [],
      notes: [],
    });
  });

  test('case 50: no pods, no decision', () => {
    expect(plan(worldOf(5, 50, 1))).toMatchObject({
      actual: { spot: 0, onDemand: 0, unknown: 0 },
      drift: 0,
      decisions: [],
    });
  });

  test('case 52: replicas 0 asks for nothing', () => {
    expect(plan(worldOf(0, 50, 1))).toMatchObject({ target: { spot: 0, onDemand: 0 }, drift: 0, decisions: [] });
  });

  test('every pod has a state and a sentence', () => {
    const world = worldOf(5, 50, 2);
    place(world, 3, 0);
    runUnsteered(world, 'spot', { name: 'going', deletingAt: NOON });
    runUnsteered(world, 'spot', { name: 'failed', phase: 'Failed' });
    runUnsteered(world, 'spot', { name: 'lost', nodeName: UNKNOWN_NODE });
    runUnsteered(world, 'spot', { name: 'waiting', nodeName: undefined, phase: 'Pending', ready: false });
    runUnsteered(world, 'spot', {
      name: 'due',
      nodeName: undefined,
      capacity: 'on-demand',
      phase: 'Pending',
      ready: false,
    });
    const states = Object.fromEntries(plan(world).pods.map(({ ref, state, note }) => [ref.name, [state, note]]));
    expect(states).toEqual({
      s0: ['settled', 'runs on spot, counted as slot 3'],
      s1: ['settled', 'runs on spot, counted as slot 4'],
      s2: ['settled', 'runs on spot, counted as slot 5'],
      due: ['settled', 'waits for a place on on-demand'],
      going: ['terminating', 'terminating: holds no slot'],
      failed: ['ended', 'failed: holds no slot'],
      lost: ['unknown', `node ${UNKNOWN_NODE} is of no known class: counts for neither side`],
      waiting: ['unknown', 'not scheduled, and nothing says on which side it will run'],
    });
  });

  test('hazard H7: the side that is short of places is named', () => {
    const world = worldOf(3, 50, 1);
    const waiting = { nodeName: undefined, phase: 'Pending', ready: false, unschedulableSince: NOON } as const;
    runUnsteered(world, 'spot', { ...waiting, capacity: 'on-demand' });
    for (let index = 0; index < 2; index++) runUnsteered(world, 'spot', { ...waiting, capacity: 'spot' });
    expect(plan(world).notes.map(({ text }) => text)).toEqual([
      'pods that find no place on spot: 2',
      'pods that find no place on on-demand: 1',
    ]);
    expect(evictionOf(plan(world))).toBeUndefined();
  });

  test('case 59: failed pods that linger are no drift', () => {
    const world = worldOf(10, 70, 1);
    settle(world);
    for (let index = 0; index < 5; index++) runUnsteered(world, 'spot', { phase: 'Failed' });
    expect(plan(world)).toMatchObject({ drift: 0, decisions: [] });
  });

  test('a surge is no drift', () => {
    const world = worldOf(4, 50, 1);
    settle(world);
    runUnsteered(world, 'on-demand');
    expect(plan(world)).toMatchObject({ actual: { onDemand: 3 }, drift: 0, decisions: [] });
  });

  test('case 45: case 48: what is not managed or not valid is seen and left alone, with the reason', () => {
    const off = createWorld(aDeployment({ enabled: false }));
    place(off, 10, 0);
    expect(plan(off)).toMatchObject({ target: undefined, drift: 0, decisions: [], notes: [{ reason: 'NotEnabled' }] });
    const invalid = createWorld(aDeployment({ annotations: { 'spotalis.io/min-on-demand': 'x' } }));
    place(invalid, 10, 0);
    expect(plan(invalid)).toMatchObject({ decisions: [], notes: [{ reason: 'InvalidConfiguration' }] });
    expect(plan(invalid).actual.spot).toBe(10);
  });
});

describe('evictions', () => {
  test('case 49: 4 on spot and 1 on on-demand, 2 and 3 wanted: exactly one', () => {
    const world = worldOf(5, 40, 1);
    place(world, 4, 1);
    const { decisions, drift } = plan(world);
    expect(drift).toBe(2);
    expect(decisions).toHaveLength(1);
    expect(evictionOf(plan(world))).toMatchObject({
      from: 'spot',
      to: 'on-demand',
      onDemandFloor: 1,
      workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
      why: { summary: '4 pods on spot, 2 wanted: one moves to on-demand', numbers: { targetSpot: 2, spot: 4 } },
    });
  });

  test.each<[number, number, Side]>([
    [9, 1, 'spot'],
    [5, 5, 'on-demand'],
  ])('case 50: %i/%i of 7/3: one of the excess side, %s, goes', (spot, onDemand, from) => {
    const world = worldOf(10, 70, 1);
    place(world, spot, onDemand);
    const eviction = evictionOf(plan(world));
    expect(eviction?.from).toBe(from);
    expect(world.pods.find(({ uid }) => uid === eviction?.pod.uid)?.nodeName).toBe(nodeOf(from));
  });

  test('case 60: the label alone on spot nodes: moved to on-demand one by one, then at rest for good', () => {
    const world = createWorld(aDeployment({ replicas: 3, annotations: {} }));
    place(world, 3, 0);
    expect(repair(world)).toEqual({ evictions: 3, rounds: 4 });
    expect(mix(world)).toEqual([0, 3]);
  });

  test('case 36: pods whose pin and node disagree are counted by the node', () => {
    const world = worldOf(2, 0, 0);
    runUnsteered(world, 'spot', { template: aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } }) });
    runUnsteered(world, 'on-demand');
    expect(plan(world)).toMatchObject({ actual: { spot: 1, onDemand: 1 }, drift: 1 });
  });

  test('case 55: hazard H30: a stranger’s pods with the same labels are neither counted nor touched', () => {
    const world = worldOf(2, 50, 1);
    settle(world);
    const stranger = { namespace: 'shop', name: 'stranger', uid: 'uid-stranger' };
    for (let index = 0; index < 9; index++) world.pods.push(aPod(stranger, `x${index}`, { nodeName: nodeOf('spot') }));
    expect(plan(world)).toMatchObject({ actual: { spot: 1, onDemand: 1 }, decisions: [] });
    expect(plan(world).pods).toHaveLength(2);
  });

  test('pods on nodes of no known class are never victims and never satisfy the floor', () => {
    const world = worldOf(4, 50, 2);
    place(world, 2, 0);
    for (const name of ['x', 'y']) runUnsteered(world, 'spot', { name, uid: name, nodeName: UNKNOWN_NODE });
    const seen = plan(world);
    expect(seen).toMatchObject({ drift: 0, decisions: [], actual: { unknown: 2 } });
    expect(seen.notes).toEqual([
      { reason: 'UnknownNodeClass', text: expect.stringContaining(UNKNOWN_NODE) },
      { reason: undefined, text: 'the on-demand floor is not met: 0 of 2' },
    ]);
  });

  test('more spot pods than wanted are too many whatever the unknown ones are', () => {
    const world = worldOf(4, 50, 2);
    place(world, 3, 0);
    runUnsteered(world, 'spot', { nodeName: UNKNOWN_NODE });
    expect(evictionOf(plan(world))?.from).toBe('spot');
  });

  test('hazard H17: a template that pins the excess side is reported, not evicted for ever', () => {
    const template = aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'spot' } });
    const world = createWorld(
      aDeployment({ replicas: 3, template, annotations: { 'spotalis.io/spot-percentage': '0' } }),
    );
    place(world, 3, 0);
    expect(plan(world)).toMatchObject({ drift: 3, decisions: [] });
    expect(plan(world).notes).toContainEqual({
      reason: 'ConflictingPlacement',
      text: expect.stringContaining('pins spot'),
    });
  });

  test('a template that pins the side wanted may be moved there', () => {
    const template = aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } });
    const world = createWorld(
      aDeployment({ replicas: 3, template, annotations: { 'spotalis.io/spot-percentage': '0' } }),
    );
    place(world, 1, 2);
    expect(evictionOf(plan(world))?.to).toBe('on-demand');
  });

  test('where the side cannot be written into a pod nothing is moved, as it would come back', () => {
    const mutations = { tolerations: true, affinity: false };
    const nodeClasses = nodeClassProfile(['aks']);
    const world = createWorld(aDeployment({ replicas: 1, annotations: {} }), { mutations, nodeClasses });
    world.nodes = world.nodes.map((node) => ({ ...node, labels: { 'kubernetes.azure.com/scalesetpriority': 'spot' } }));
    place(world, 1, 0);
    expect(plan(world)).toMatchObject({
      drift: 1,
      decisions: [],
      notes: [{ text: expect.stringContaining('placement.mutations.affinity') }],
    });
  });

  test('a spared pod is chosen only when there is no other, so that the guard can say why nothing moves', () => {
    const world = worldOf(2, 0, 0);
    place(world, 2, 0);
    world.pods = world.pods.map((pod) => (pod.name === 's1' ? { ...pod, protectedBy: 'x' } : pod));
    expect(evictionOf(plan(world))?.pod.name).toBe('s0');
    world.pods = world.pods.map((pod) => ({ ...pod, protectedBy: 'x' }));
    expect(evictionOf(plan(world))).toBeDefined();
  });
});

describe('StatefulSets', () => {
  const setWorld = (sidesByOrdinal: readonly Side[], orderedReady = true): World => {
    const rollout = { type: 'StatefulSet', start: 0, partition: 0, onDelete: false, orderedReady } as const;
    const world = createWorld(aStatefulSet({ replicas: sidesByOrdinal.length, rollout }), { rounding: 'floor' });
    world.pods = sidesByOrdinal.map((side, ordinal) =>
      aPod({ ...world.workload, kind: 'StatefulSet' }, `db-${ordinal}`, { nodeName: nodeOf(side) }),
    );
    return world;
  };

  // Slots of 5 replicas: o s o s s.
  test('case 66: the highest ordinal on the wrong side goes, those on the right side stay', () => {
    const world = setWorld(['spot', 'spot', 'spot', 'spot', 'spot']);
    expect(plan(world).drift).toBe(2);
    expect(evictionOf(plan(world))?.pod.name).toBe('db-2');
  });

  test('case 63: hazard H11: one at most, for OrderedReady and Parallel alike', () => {
    for (const orderedReady of [true, false]) {
      expect(plan(setWorld(['spot', 'spot', 'spot', 'spot', 'spot'], orderedReady)).decisions).toHaveLength(1);
    }
  });

  test('counts that are right on the wrong ordinals are left alone, stamps included', () => {
    const world = setWorld(['spot', 'on-demand', 'on-demand', 'spot', 'spot']);
    expect(plan(world)).toMatchObject({ drift: 0, decisions: [] });
  });

  test('a pod in a slot of its own side is never the victim: it would come back', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom<Side>('spot', 'on-demand'), { minLength: 1, maxLength: 9 }), (placed) => {
        const world = setWorld(placed);
        const eviction = evictionOf(plan(world));
        const victim = plan(world).pods.find(({ ref }) => ref.uid === eviction?.pod.uid);
        if (eviction !== undefined) expect(victim?.wantedSide).toBe(eviction.to);
      }),
      { numRuns: 1000 },
    );
  });

  test('any placement ends exact, each ordinal moved once at most', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom<Side>('spot', 'on-demand'), { minLength: 1, maxLength: 9 }), (placed) => {
        const world = setWorld(placed);
        const { drift, target } = plan(world);
        let evictions = 0;
        for (let eviction = evictionOf(plan(world)); eviction !== undefined; eviction = evictionOf(plan(world))) {
          const { uid } = eviction.pod;
          const { to } = eviction;
          world.pods = world.pods.map((pod) =>
            pod.uid === uid ? { ...pod, uid: `${uid}-again`, nodeName: nodeOf(to) } : pod,
          );
          evictions++;
          if (evictions > 20) break;
        }
        expect(evictions).toBe(drift);
        expect(mix(world)).toEqual([target?.spot, target?.onDemand]);
      }),
      { numRuns: 1000 },
    );
  });
});

/** Evict, admit the replacement, let it run, until nothing is left to move. */
function repair(world: World): { readonly evictions: number; readonly rounds: number } {
  for (let rounds = 1, evictions = 0; rounds <= 200; rounds++) {
    const eviction = evictionOf(plan(world));
    if (eviction === undefined) return { evictions, rounds };
    const victim = world.pods.find(({ uid }) => uid === eviction.pod.uid);
    if (victim !== undefined) remove(world, victim);
    world.now += 60_000;
    evictions++;
    run(world);
  }
  throw new Error('the repair does not end');
}

describe('repair', () => {
  const anyPolicy = fc.record({
    replicas: fc.integer({ min: 1, max: 14 }),
    percentage: fc.integer({ min: 0, max: 100 }),
    min: fc.integer({ min: 0, max: 6 }),
    seed: fc.nat(),
  });

  test('case 53: bug 16: hazard H6: from any placement it ends exact with as many evictions as there was drift, and stays at rest', () => {
    fc.assert(
      fc.property(anyPolicy, ({ replicas, percentage, min, seed }) => {
        const random = createSeededRandom(seed);
        const world = worldOf(replicas, percentage, min);
        for (let index = 0; index < replicas; index++) {
          const side: Side = random.next() < 0.5 ? 'spot' : 'on-demand';
          const slot = random.next() < 0.5 ? undefined : 1 + Math.floor(random.next() * replicas * 1.5);
          runUnsteered(world, side, { slot, capacity: slot === undefined ? undefined : side });
        }
        const { drift, target } = plan(world);
        expect(repair(world).evictions).toBe(drift);
        expect(mix(world)).toEqual([target?.spot, target?.onDemand]);
        restampAll(world);
        expect(plan(world).decisions).toEqual([]);
        expect(world.workload.replicas).toBe(replicas);
      }),
      { numRuns: 1000 },
    );
  });

  test('case 54: 0 -> 100 % converges, and 50 -> 80 % does', () => {
    const world = worldOf(6, 0, 0);
    settle(world);
    annotate(world, 50, 3);
    expect(repair(world).evictions).toBe(3);
    annotate(world, 80, 1);
    expect(repair(world).evictions).toBe(2);
    expect(mix(world)).toEqual([5, 1]);
  });

  test('bug 8: bug 3: after another evictor moved pods the mix comes back, one at a time', () => {
    const world = worldOf(10, 70, 1);
    settle(world);
    world.pods = world.pods.map((pod) => ({ ...pod, nodeName: nodeOf('on-demand') }));
    expect(repair(world).evictions).toBe(7);
    expect(mix(world)).toEqual([7, 3]);
  });

  test('the same input gives the same plan', () => {
    const world = worldOf(10, 70, 1);
    place(world, 10, 0);
    expect(plan(world)).toEqual(plan(world));
    const reversed = { ...world, pods: [...world.pods].reverse() };
    expect(plan(reversed).decisions).toEqual(plan(world).decisions);
  });
});

function restampAll(world: World): void {
  for (const { pod: ref, slot, capacity, deletionCost } of restampsOf(plan(world))) {
    world.pods = world.pods.map((pod) =>
      pod.uid === ref.uid ? { ...pod, slot, capacity, deletionCost: deletionCost ?? pod.deletionCost } : pod,
    );
  }
}

describe('re-stamps', () => {
  test('after a change of percentage that moves no count, slots follow the sides without an eviction', () => {
    const world = worldOf(4, 50, 0);
    settle(world);
    expect(world.pods.map(({ capacity }) => capacity)).toEqual(['spot', 'on-demand', 'spot', 'on-demand']);
    annotate(world, 50, 2);
    const seen = plan(world);
    expect(seen.drift).toBe(0);
    expect(evictionOf(seen)).toBeUndefined();
    expect(restampsOf(seen).length).toBeGreaterThan(0);
    restampAll(world);
    expect(world.pods.map(({ slot, capacity }) => [slot, capacity]).sort()).toEqual([
      [1, 'on-demand'],
      [2, 'on-demand'],
      [3, 'spot'],
      [4, 'spot'],
    ]);
    expect(plan(world).decisions).toEqual([]);
  });

  test('hazard H31: pods that missed admission are stamped when all is right, with the cost that keeps the mix', () => {
    const world = worldOf(3, 34, 0);
    place(world, 2, 1);
    expect(
      restampsOf(plan(world)).map(({ pod, slot, capacity, deletionCost }) => [pod.name, slot, capacity, deletionCost]),
    ).toEqual([
      ['s0', 1, 'spot', -1],
      ['s1', 3, 'spot', -3],
      ['o0', 2, 'on-demand', -2],
    ]);
  });

  test('the user’s own deletion cost is kept', () => {
    const world = worldOf(1, 0, 0);
    runUnsteered(world, 'on-demand', { deletionCost: 100 });
    expect(restampsOf(plan(world))[0]?.deletionCost).toBeUndefined();
  });

  test.each<[string, (world: World) => void]>([
    ['pods are missing', (world) => scale(world, 4)],
    ['there are more than wanted', (world) => scale(world, 2)],
    ['one is on the wrong side', (world) => annotate(world, 0, 3)],
    [
      'one is on a node of no known class',
      (world) => {
        world.pods = world.pods.map(
          (pod, index): PodRecord => (index === 0 ? { ...pod, nodeName: UNKNOWN_NODE } : pod),
        );
      },
    ],
  ])('none while %s', (_, disturb) => {
    const world = worldOf(3, 34, 0);
    place(world, 2, 1);
    disturb(world);
    expect(restampsOf(plan(world))).toEqual([]);
  });

  test('none while two revisions live side by side', () => {
    const world = worldOf(2, 50, 0);
    place(world, 1, 0);
    const [first] = world.replicaSets;
    if (first === undefined) return;
    const second = { ...first, uid: 'uid-2', revision: 'rev2', name: 'web-rev2' };
    world.replicaSets = [first, second];
    world.pods.push(aPod(second, 'new', { nodeName: nodeOf('on-demand') }));
    expect(plan(world).decisions).toEqual([]);
  });

  test('hazard H3: after ten pods are scaled to four by deletion cost the mix is exact without any write', () => {
    const world = worldOf(10, 70, 1);
    settle(world);
    scale(world, 4);
    world.pods = world.pods.sort((a, b) => b.deletionCost - a.deletionCost).slice(0, 4);
    expect(plan(world)).toMatchObject({
      target: { spot: 3, onDemand: 1 },
      actual: { spot: 3, onDemand: 1 },
      decisions: [],
    });
  });
});

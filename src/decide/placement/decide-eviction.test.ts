import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nodeClassProfile } from '../../model/node-profiles.ts';
import type { Side } from '../../model/records.ts';
import { aDeployment, aPod, aStatefulSet, aTemplate, CAPACITY_TYPE } from '../../model/testing/records.ts';
import {
  admitSteered,
  createWorld,
  evictionOf,
  fill,
  mix,
  nodeOf,
  place,
  plan,
  podFrom,
  repair,
  run,
  runUnsteered,
  UNKNOWN_NODE,
  type World,
  worldOf,
} from './testing/world.ts';

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
      why: { summary: '4 on spot, 2 wanted: one moves to on-demand', numbers: { targetSpot: 2, spot: 4 } },
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
    fill(world);
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

  test('hazard H17: so are pods that are pinned when they are made: theirs would come back the same for ever', () => {
    const world = worldOf(3, 100, 0);
    const pinned = { pod: { template: aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } }) } };
    for (let index = 0; index < 3; index++) run(world, pinned);
    expect(plan(world)).toMatchObject({ drift: 3, decisions: [] });
    expect(plan(world).notes).toEqual([
      { reason: 'ConflictingPlacement', text: expect.stringMatching(/^What is added .* pins on-demand/) },
    ]);
  });

  test('hazard H17: so are pods that a webhook after Stowage’s sends to the other side', () => {
    const world = worldOf(3, 100, 0);
    const template = aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } });
    for (let index = 0; index < 3; index++)
      world.pods.push({ ...podFrom(world, admitSteered(world)), template, nodeName: nodeOf('on-demand') });
    expect(plan(world)).toMatchObject({ drift: 3, decisions: [] });
    expect(plan(world).notes).toEqual([
      { reason: 'ConflictingPlacement', text: expect.stringMatching(/^What is added .* pins on-demand/) },
    ]);
  });

  test('a pod that has no node yet goes only as long as it has none; one that runs, whatever is told of it', () => {
    const world = worldOf(1, 100, 0);
    runUnsteered(world, 'on-demand', { resourceVersion: '7' });
    expect(evictionOf(plan(world))).not.toHaveProperty('resourceVersion');
    world.pods = world.pods.map((pod) => ({ ...pod, nodeName: undefined, capacity: 'on-demand' }));
    expect(evictionOf(plan(world))).toMatchObject({ resourceVersion: '7' });
  });

  test('of pods of which some are pinned when they are made the others move', () => {
    const world = worldOf(3, 100, 0);
    run(world, { pod: { template: aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } }) } });
    place(world, 0, 2);
    const moved = new Set<string>();
    for (let eviction = evictionOf(plan(world)); eviction !== undefined; eviction = evictionOf(plan(world))) {
      moved.add(eviction.pod.name);
      world.pods = world.pods.filter(({ uid }) => uid !== eviction.pod.uid);
      run(world);
    }
    expect([...moved].sort()).toEqual(['o0', 'o1']);
    expect(mix(world)).toEqual([2, 1]);
  });

  test('pods pinned to the side wanted may be moved there', () => {
    const world = worldOf(1, 100, 0);
    const template = aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'spot' } });
    const pod = podFrom(world, admitSteered(world, { pod: { template } }));
    world.pods.push({ ...pod, nodeName: nodeOf('on-demand') });
    expect(pod.pinned).toBe(true);
    expect(evictionOf(plan(world))?.to).toBe('spot');
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

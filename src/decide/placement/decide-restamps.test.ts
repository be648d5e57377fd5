import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import { aPod, aStatefulSet } from '../../model/testing/records.ts';
import {
  annotate,
  createWorld,
  evictionOf,
  fill,
  nodeOf,
  place,
  plan,
  restampAll,
  restampsOf,
  runUnsteered,
  scale,
  UNKNOWN_NODE,
  type World,
  worldOf,
} from './testing/world.ts';

describe('re-stamps', () => {
  test('after a change of percentage that moves no count, slots follow the sides without an eviction', () => {
    const world = worldOf(4, 50, 0);
    fill(world);
    expect(world.pods.map(({ capacity }) => capacity)).toEqual(['spot', 'on-demand', 'spot', 'on-demand']);
    annotate(world, 50, 2);
    const seen = plan(world);
    expect(seen.drift).toBe(0);
    expect(evictionOf(seen)).toBeUndefined();
    expect(restampsOf(seen).length).toBeGreaterThan(0);
    restampAll(world);
    expect(world.pods.map(({ slot, capacity }) => [slot ?? 0, capacity] as const).sort(([a], [b]) => a - b)).toEqual([
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

  test.each<[string, Partial<PodRecord>, number | undefined]>([
    ['none', { deletionCost: 0 }, -1],
    ['none, on a pod with a slot', { slot: 2, capacity: 'on-demand', deletionCost: 0 }, -1],
    ['ours, of the slot it had', { slot: 2, capacity: 'on-demand', deletionCost: -2 }, -1],
    ['the user’s', { deletionCost: 100 }, undefined],
    ['the user’s, as high as the slot', { slot: 2, capacity: 'on-demand', deletionCost: 2 }, undefined],
    ['the user’s, of another slot than it had', { slot: 2, capacity: 'on-demand', deletionCost: -3 }, undefined],
  ])('a deletion cost that is %s', (_, changes, expected) => {
    const world = worldOf(1, 0, 0);
    runUnsteered(world, 'on-demand', changes);
    expect(restampsOf(plan(world)).map(({ deletionCost }) => deletionCost)).toEqual([expected]);
  });

  test.each<[string, Partial<PodRecord>, number]>([
    ['what is right already', {}, 0],
    ['the side, where only that is wrong', { capacity: 'spot' }, 1],
    ['the slot, where only that is wrong', { slot: 2, deletionCost: -2 }, 1],
    ['cover that has come to stay', { fallback: true }, 1],
  ])('correct %s', (_, changes, expected) => {
    const world = worldOf(1, 0, 0);
    runUnsteered(world, 'on-demand', { slot: 1, capacity: 'on-demand', deletionCost: -1, ...changes });
    expect(restampsOf(plan(world))).toHaveLength(expected);
  });

  test('are made beside a pod that is ending, and beside one of an older revision that has ended', () => {
    const world = worldOf(3, 34, 0);
    place(world, 2, 1);
    runUnsteered(world, 'spot', { deletingAt: world.now });
    expect(restampsOf(plan(world))).toHaveLength(3);
    const [first] = world.replicaSets;
    if (first === undefined) throw new Error('there is one');
    const older = { ...first, uid: 'uid-0', revision: 'rev0', name: 'web-rev0' };
    world.replicaSets = [older, first];
    world.pods.push(aPod(older, 'old', { nodeName: nodeOf('spot'), phase: 'Failed' }));
    expect(restampsOf(plan(world))).toHaveLength(3);
  });

  test('none of a StatefulSet, whose slots are its ordinals', () => {
    const world = createWorld(aStatefulSet({ replicas: 1, annotations: { 'spotalis.io/spot-percentage': '0' } }));
    runUnsteered(world, 'on-demand', { name: 'db-0', slot: 7, capacity: 'spot' });
    expect(plan(world)).toMatchObject({ drift: 0, decisions: [] });
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
    fill(world);
    scale(world, 4);
    world.pods = world.pods.sort((a, b) => b.deletionCost - a.deletionCost).slice(0, 4);
    expect(plan(world)).toMatchObject({
      target: { spot: 3, onDemand: 1 },
      actual: { spot: 3, onDemand: 1 },
      decisions: [],
    });
  });
});

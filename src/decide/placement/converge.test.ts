import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../lib/random.ts';
import type { PodRecord, Side } from '../../model/records.ts';
import { aDeployment, NOON } from '../../model/testing/records.ts';
import {
  annotate,
  createWorld,
  evictionOf,
  fill,
  mix,
  nodeOf,
  place,
  plan,
  repair,
  restampAll,
  runUnsteered,
  UNKNOWN_NODE,
  worldOf,
} from './testing/world.ts';

describe('what is seen', () => {
  test('case 46: a workload at rest has nothing to do', () => {
    const world = worldOf(10, 70, 1);
    fill(world);
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

  test.each<[string, Partial<PodRecord>, string[]]>([
    ['waits', {}, ['pods that find no place on spot: 1']],
    ['has not been looked at', { unschedulableSince: undefined }, []],
    ['has found a node', { nodeName: nodeOf('spot') }, []],
    ['is ending', { deletingAt: NOON }, []],
  ])('a pod that %s', (_, changes, expected) => {
    const world = worldOf(2, 50, 0);
    const waiting = { nodeName: undefined, phase: 'Pending', ready: false, unschedulableSince: NOON } as const;
    runUnsteered(world, 'spot', { ...waiting, capacity: 'spot', ...changes });
    expect(plan(world).notes.map(({ text }) => text)).toEqual(expected);
  });

  test.each<[string, number, number, readonly Partial<PodRecord>[], number]>([
    ['as many as cover', 1, 3, [{ fallback: true }], 1],
    ['no more than on-demand has too many', 2, 3, [{ fallback: true }, { fallback: true }], 1],
    ['none where on-demand has no more than it should', 2, 2, [{ fallback: true }], 0],
    ['none where on-demand has less', 3, 1, [{ fallback: true }], 0],
    ['not one that is ending', 2, 3, [{ fallback: true, deletingAt: NOON }], 0],
    ['not those that do not cover', 1, 3, [{}], 0],
  ])('cover for spot: %s', (_, spot, onDemand, changes, expected) => {
    const world = worldOf(4, 50, 0);
    place(world, spot, onDemand - changes.filter(({ deletingAt }) => deletingAt === undefined).length);
    for (const each of changes) runUnsteered(world, 'on-demand', each);
    expect(plan(world).spot.covered).toBe(expected);
  });

  test('the floor is told only where all pods are there to meet it', () => {
    const notesOf = (spot: number, onDemand: number) => {
      const world = worldOf(4, 50, 2);
      place(world, spot, onDemand);
      return plan(world).notes.map(({ text }) => text);
    };
    expect(notesOf(2, 1)).toEqual([]);
    expect(notesOf(3, 1)).toEqual(['the on-demand floor is not met: 1 of 2']);
    expect(notesOf(1, 3)).toEqual([]);
  });

  test('case 59: failed pods that linger are no drift', () => {
    const world = worldOf(10, 70, 1);
    fill(world);
    for (let index = 0; index < 5; index++) runUnsteered(world, 'spot', { phase: 'Failed' });
    expect(plan(world)).toMatchObject({ drift: 0, decisions: [] });
  });

  test('a surge of which nobody knows where it is, is none either', () => {
    const world = worldOf(4, 50, 1);
    place(world, 3, 1);
    runUnsteered(world, 'spot', { nodeName: UNKNOWN_NODE });
    expect(plan(world)).toMatchObject({ actual: { spot: 3, onDemand: 1, unknown: 1 }, drift: 0 });
    world.pods.pop();
    expect(plan(world).drift).toBe(1);
  });

  test('a surge is no drift', () => {
    const world = worldOf(4, 50, 1);
    fill(world);
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
    fill(world);
    annotate(world, 50, 3);
    expect(repair(world).evictions).toBe(3);
    annotate(world, 80, 1);
    expect(repair(world).evictions).toBe(2);
    expect(mix(world)).toEqual([5, 1]);
  });

  test('bug 8: bug 3: after another evictor moved pods the mix comes back, one at a time', () => {
    const world = worldOf(10, 70, 1);
    fill(world);
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

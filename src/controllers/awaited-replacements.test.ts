import { describe, expect, test } from 'vitest';
import { createWorld, runUnsteered, viewOf, type World } from '../decide/placement/testing/world.ts';
import type { PodRecord } from '../model/records.ts';
import { aDeployment, aTemplate, NOON } from '../model/testing/records.ts';
import { createAwaitedReplacements } from './awaited-replacements.ts';

const MIB = 2 ** 20;
const requests = { cpuMillis: 300, memoryBytes: 64 * MIB };
const template = aTemplate({ requests, terminationGraceSeconds: 30 });

function setUp(changes: Partial<PodRecord> = {}, ofWorkload = template) {
  const world = createWorld(aDeployment({ replicas: 2, template: ofWorkload }));
  const pod = runUnsteered(world, 'spot', { template, ...changes });
  const { kind, namespace, name, uid: workloadUid } = world.workload;
  const shared = {
    workload: { kind, namespace, name },
    workloadUid,
    pod: { namespace, name: pod.name, uid: pod.uid },
    why: { summary: 'too many', numbers: {} },
  };
  const move = {
    ...shared,
    kind: 'evict',
    engine: 'placement',
    from: 'spot',
    to: 'on-demand',
    onDemandFloor: 0,
  } as const;
  const growth = { cpuMillis: 50, memoryBytes: MIB };
  const resize = { ...shared, kind: 'evict-to-resize', engine: 'rightsizing', changes: [], growth } as const;
  // The world's pods may change later; a view made of it does not.
  const awaited = createAwaitedReplacements(
    new Proxy(viewOf(world), { get: (_, key) => Reflect.get(viewOf(world), key) }),
  );
  const listAt = (now: number) => awaited.look(now).awaited.map(({ side }) => side);
  return { world, pod, move, resize, awaited, listAt };
}

const born = (world: World, changes: Partial<PodRecord>): void => {
  runUnsteered(world, 'on-demand', { template, ...changes });
};

describe('the replacement of an evicted pod is awaited', () => {
  test('on the side it is moved to, with what it asks for', () => {
    const { world, move, awaited } = setUp();
    awaited.expect(move, world.sides, NOON);
    expect(awaited.look(NOON).awaited).toMatchObject([{ side: 'on-demand', template: { requests } }]);
  });

  test.each<[string, Partial<PodRecord>, number]>([
    ['until it has a node', { nodeName: 'on-demand' }, 0],
    ['until the scheduler has found none for it', { nodeName: undefined, unschedulableSince: NOON }, 0],
    ['while the scheduler has not looked at it', { nodeName: undefined, phase: 'Pending' }, 1],
    ['whatever became of one that has ended', { nodeName: 'on-demand', phase: 'Failed' }, 1],
  ])('%s', (_, changes, left) => {
    const { world, move, awaited, listAt } = setUp();
    awaited.expect(move, world.sides, NOON);
    born(world, changes);
    expect(listAt(NOON)).toHaveLength(left);
  });

  test('and what the pod that goes still holds, until it is gone', () => {
    const { world, pod, move, awaited } = setUp();
    awaited.expect(move, world.sides, NOON);
    expect(awaited.look(NOON).awaited).toMatchObject([{ held: { node: pod.nodeName, requests } }]);
    world.pods.splice(0, 1);
    expect(awaited.look(NOON).awaited).toMatchObject([{ held: undefined }]);
  });

  test('no longer than a minute after the grace period of the pod that goes', () => {
    const { world, move, awaited, listAt } = setUp();
    awaited.expect(move, world.sides, NOON);
    expect(listAt(NOON + 89_999)).toHaveLength(1);
    expect(listAt(NOON + 90_000)).toEqual([]);
  });

  test('no longer than for an hour of a grace period of a week', () => {
    const week = aTemplate({ requests, terminationGraceSeconds: 604_800 });
    const { world, move, awaited, listAt } = setUp({ template: week }, week);
    awaited.expect(move, world.sides, NOON);
    expect(listAt(NOON + 3_659_999)).toHaveLength(1);
    expect(listAt(NOON + 3_660_000)).toEqual([]);
  });

  test('not where the eviction was refused, and not of a pod or workload that is gone', () => {
    const { world, pod, move, awaited, listAt } = setUp();
    awaited.expect(move, world.sides, NOON);
    awaited.withdraw(pod.uid);
    expect(listAt(NOON)).toEqual([]);
    awaited.expect({ ...move, pod: { ...move.pod, uid: 'gone' } }, world.sides, NOON);
    awaited.expect({ ...move, workloadUid: 'gone' }, world.sides, NOON);
    expect(listAt(NOON)).toEqual([]);
  });

  test('with its new size, and on the side of its pod only where that was steered', () => {
    const { world, resize, awaited } = setUp();
    awaited.expect(resize, world.sides, NOON);
    const larger = { cpuMillis: 350, memoryBytes: 65 * MIB };
    expect(awaited.look(NOON).awaited).toMatchObject([{ side: undefined, template: { requests: larger } }]);
    const steered = setUp({ capacity: 'spot' });
    steered.awaited.expect(steered.resize, world.sides, NOON);
    expect(steered.listAt(NOON)).toEqual(['spot']);
  });
});

describe('the replacement of a pod that ends as this replica begins to lead is awaited', () => {
  test('wherever it fits, until a minute after the grace period of that pod', () => {
    const { world, awaited, listAt } = setUp({ deletingAt: NOON + 50_000, capacity: 'spot' });
    awaited.adopt(world.workload.uid, world.sides, NOON);
    expect(awaited.look(NOON).awaited).toMatchObject([{ side: undefined, template: { requests } }]);
    expect(listAt(NOON + 109_999)).toHaveLength(1);
    expect(listAt(NOON + 110_000)).toEqual([]);
  });

  test('and missing where none is made', () => {
    const { world, pod, awaited } = setUp({ deletingAt: NOON - 50_000 });
    awaited.adopt(world.workload.uid, world.sides, NOON);
    expect(awaited.look(NOON).missing).toEqual([]);
    world.pods.splice(0, 1);
    expect(awaited.look(NOON + 1).missing).toMatchObject([{ pod: pod.name, since: NOON + 1 }]);
  });

  test.each<[string, (world: World) => void, number]>([
    ['of as many as lack', (world) => void runUnsteered(world, 'spot', { template, deletingAt: NOON }), 2],
    [
      'not where it is there',
      (world) => {
        for (const name of ['a', 'b']) born(world, { name, uid: name });
      },
      0,
    ],
    ['of one where the other is there', (world) => born(world, {}), 1],
  ])('%s', (_, change, expected) => {
    const { world, awaited, listAt } = setUp({ deletingAt: NOON });
    change(world);
    awaited.adopt(world.workload.uid, world.sides, NOON);
    awaited.adopt('gone', world.sides, NOON);
    expect(listAt(NOON)).toHaveLength(expected);
  });

  test('on its side where this replica asked for it itself, when it led before', () => {
    const { world, move, awaited, listAt } = setUp({ deletingAt: NOON });
    awaited.expect(move, world.sides, NOON);
    awaited.adopt(world.workload.uid, world.sides, NOON);
    expect(listAt(NOON)).toEqual(['on-demand']);
  });
});

describe('a replacement is missing', () => {
  const gone = ({ world, pod }: ReturnType<typeof setUp>): void => {
    world.pods.splice(world.pods.indexOf(pod), 1);
  };

  test('from when the evicted pod is gone until the next is made', () => {
    const scene = setUp();
    const { world, pod, move, awaited } = scene;
    awaited.expect(move, world.sides, NOON);
    expect(awaited.look(NOON).missing).toEqual([]);
    gone(scene);
    const told = { workload: move.workload, pod: pod.name, since: NOON + 1 };
    expect(awaited.look(NOON + 1).missing).toEqual([told]);
    expect(awaited.look(NOON + 600_000).missing).toEqual([told]);
    born(world, { nodeName: undefined, phase: 'Pending' });
    expect(awaited.look(NOON + 600_001).missing).toEqual([]);
  });

  test.each<[string, (world: World) => void]>([
    [
      'as many are there as are wanted',
      (world) => Object.assign(world, { workload: { ...world.workload, replicas: 0 } }),
    ],
    [
      'its workload is being deleted',
      (world) => Object.assign(world, { workload: { ...world.workload, deleting: true } }),
    ],
    [
      'its workload is gone',
      (world) => Object.assign(world, { workload: aDeployment({ name: 'other', uid: 'other' }) }),
    ],
  ])('not where %s', (_, change) => {
    const scene = setUp();
    scene.awaited.expect(scene.move, scene.world.sides, NOON);
    gone(scene);
    expect(scene.awaited.look(NOON).missing).toHaveLength(1);
    change(scene.world);
    expect(scene.awaited.look(NOON).missing).toEqual([]);
  });

  test('for an hour at most, and it takes room for a minute only', () => {
    const scene = setUp();
    scene.awaited.expect(scene.move, scene.world.sides, NOON);
    gone(scene);
    expect(scene.awaited.look(NOON + 90_000).awaited).toEqual([]);
    expect(scene.awaited.look(NOON + 90_000 + 3_599_999).missing).toHaveLength(1);
    expect(scene.awaited.look(NOON + 90_000 + 3_600_000).missing).toEqual([]);
  });
});

describe('a replacement is stranded', () => {
  const waiting: Partial<PodRecord> = {
    name: 'new',
    uid: 'new',
    nodeName: undefined,
    phase: 'Pending',
    unschedulableSince: NOON + 5,
  };

  test('from when the scheduler has found no node of on-demand for it until it has one', () => {
    const { world, move, awaited } = setUp();
    awaited.expect(move, world.sides, NOON);
    expect(awaited.look(NOON).stranded).toEqual([]);
    born(world, waiting);
    const told = { workload: move.workload, side: 'on-demand', since: NOON + 5 };
    expect(awaited.look(NOON + 600_000)).toEqual({ awaited: [], missing: [], stranded: [told] });
    expect(awaited.look(NOON + 3_689_999).stranded).toEqual([told]);
    world.pods = world.pods.map((pod) => (pod.uid === 'new' ? { ...pod, nodeName: 'on-demand' } : pod));
    expect(awaited.look(NOON + 3_689_999).stranded).toEqual([]);
  });

  test('for an hour at most', () => {
    const { world, move, awaited } = setUp();
    awaited.expect(move, world.sides, NOON);
    born(world, waiting);
    expect(awaited.look(NOON + 3_690_000).stranded).toEqual([]);
  });

  const ssd = aTemplate({ nodeSelector: { disk: 'ssd' } });
  test.each<[string, ReturnType<typeof setUp>, 'move' | 'resize' | 'back']>([
    ['it was moved to spot, which has a memory of its own', setUp(), 'back'],
    ['it was evicted for its size', setUp(), 'resize'],
    ['it asks for certain nodes', setUp({ template: ssd }, ssd), 'move'],
    ['it has volumes', setUp({ claims: ['data'] }), 'move'],
  ])('not as far as others are concerned where %s', (_, { world, move, resize, awaited }, how) => {
    const decisions = { move, resize, back: { ...move, from: 'on-demand', to: 'spot' } as const };
    awaited.expect(decisions[how], world.sides, NOON);
    born(world, waiting);
    expect(awaited.look(NOON + 600_000)).toEqual({ awaited: [], missing: [], stranded: [] });
  });
});

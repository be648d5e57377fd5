import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import { createSides } from '../../model/sides.ts';
import {
  aDeployment,
  aPod,
  aReplicaSet,
  aStatefulSet,
  aTemplate,
  CAPACITY_TYPE,
  NOON,
  someSettings,
} from '../../model/testing/records.ts';
import { planWorkload } from './converge.ts';
import { maxExcessOf, patienceFor, strandedAt, waitsForSpot } from './decide-fallback.ts';
import { untroubledSpot } from './spot-outlook.ts';
import {
  admitSteered,
  fill,
  ON_DEMAND_NODE,
  plan,
  podFrom,
  runUnsteered,
  SPOT_NODE,
  viewOf,
  type World,
  worldOf,
} from './testing/world.ts';

const MINUTE = 60_000;
const settings = someSettings();
const sides = createSides(settings.nodeClasses);

/** Four replicas, two of spot, which wait since the given times. */
function waiting(since: readonly number[]): World {
  const world = worldOf(4, 50, 0);
  fill(world);
  const spotPods = world.pods.filter(({ capacity }) => capacity === 'spot').slice(0, since.length);
  world.pods = world.pods.map((pod) => {
    const at = since[spotPods.indexOf(pod)];
    return at === undefined
      ? pod
      : { ...pod, nodeName: undefined, phase: 'Pending', ready: false, unschedulableSince: at };
  });
  return world;
}

const fallbackOf = (world: World) => plan(world).decisions.find((decision) => decision.kind === 'fallback');

describe('hazard H5: when', () => {
  test('a pod that has waited long enough is due, not before', () => {
    const world = waiting([NOON]);
    world.now = NOON + 5 * MINUTE - 1;
    expect(fallbackOf(world)).toBeUndefined();
    expect(plan(world).fallbackDueAt).toBe(NOON + 5 * MINUTE);
    world.now = NOON + 5 * MINUTE;
    expect(fallbackOf(world)).toMatchObject({
      to: 'on-demand',
      waitingSince: NOON,
      excess: 1,
      maxExcess: 2,
      why: { summary: 'spot has had no room for it for 5m' },
    });
    expect(plan(world).fallbackDueAt).toBeUndefined();
  });

  test('the clock is that of the scheduler’s verdict, not of creation', () => {
    const world = waiting([NOON]);
    world.now = NOON + MINUTE;
    world.pods = world.pods.map((pod) => ({ ...pod, createdAt: NOON - 60 * MINUTE }));
    expect(fallbackOf(world)).toBeUndefined();
  });

  test('who waited longest is first, one at a time', () => {
    const world = waiting([NOON + MINUTE, NOON]);
    world.now = NOON + 10 * MINUTE;
    const first = world.pods.find(({ unschedulableSince }) => unschedulableSince === NOON);
    expect(plan(world).decisions).toHaveLength(1);
    expect(fallbackOf(world)?.pod.uid).toBe(first?.uid);
  });

  test('a sibling that landed meanwhile gives the others another round, but not for ever', () => {
    const pod = aPod(aReplicaSet(aDeployment()), 'p', { unschedulableSince: NOON });
    expect(strandedAt(pod, 5 * MINUTE, undefined)).toBe(NOON + 5 * MINUTE);
    expect(strandedAt(pod, 5 * MINUTE, NOON - MINUTE)).toBe(NOON + 5 * MINUTE);
    expect(strandedAt(pod, 5 * MINUTE, NOON + 4 * MINUTE)).toBe(NOON + 9 * MINUTE);
    expect(strandedAt(pod, 5 * MINUTE, NOON + 60 * MINUTE)).toBe(NOON + 15 * MINUTE);
  });

  test.each([
    ['five minutes', aDeployment(), 300_000, 300_000],
    ['half as long where later ordinals wait', aStatefulSet(), 300_000, 150_000],
    ['never less than 30 s', aStatefulSet(), 40_000, 30_000],
    ['30 s stay 30 s', aStatefulSet(), 30_000, 30_000],
    [
      'as ever where pods come in parallel',
      aStatefulSet({ rollout: { type: 'StatefulSet', start: 0, partition: 0, onDelete: false, orderedReady: false } }),
      300_000,
      300_000,
    ],
  ])('hazard H11: patience: %s', (_, workload, afterMillis, expected) => {
    const fallback = { ...settings.fallback, afterMillis };
    expect(patienceFor(workload, someSettings({ fallback }))).toBe(expected);
  });
});

test.each([
  [0, 1, 'as many as belong there'],
  [1, 2, 'one too many'],
  [-1, 1, 'one too few'],
])('on-demand with %i more than its target would have %i with one more: %s', (more, excess) => {
  const world = waiting([NOON - 6 * MINUTE]);
  const onDemand = world.pods.filter(({ capacity }) => capacity === 'on-demand');
  if (more > 0)
    world.pods = world.pods.map((pod) => (pod.nodeName === SPOT_NODE ? { ...pod, nodeName: ON_DEMAND_NODE } : pod));
  if (more < 0) world.pods = world.pods.filter((pod) => pod !== onDemand[0]);
  expect(plan(world).decisions).toMatchObject([{ kind: 'fallback', excess }]);
});

test('hazard H9: in a rollout pods that cover do not keep those from it by which they are replaced', () => {
  const world = worldOf(10, 70, 1);
  const next = aReplicaSet(world.workload, { uid: 'next', name: 'web-rev2', revision: 'rev2' });
  world.replicaSets.push(next);
  for (let index = 0; index < 7; index++) runUnsteered(world, 'on-demand');
  for (let index = 0; index < 10; index++) {
    const isWaiting = index >= 3;
    const pod = aPod(next, `new-${index}`, { uid: `new-${index}`, admissionId: `u${index}`, slot: index + 1 });
    world.pods.push(
      isWaiting
        ? { ...pod, phase: 'Pending', ready: false, unschedulableSince: NOON, capacity: 'spot' }
        : { ...pod, nodeName: ON_DEMAND_NODE, capacity: 'on-demand' },
    );
  }
  world.now = NOON + 5 * MINUTE;
  // Of 17 pods 12 belong on spot: all of them may be covered.
  expect(fallbackOf(world)).toMatchObject({ excess: 6, maxExcess: 12 });
});

describe('who', () => {
  const workload = aDeployment();
  const pod = (changes: Partial<PodRecord> = {}) =>
    aPod(aReplicaSet(workload), 'p', {
      phase: 'Pending',
      ready: false,
      unschedulableSince: NOON,
      capacity: 'spot',
      admissionId: 'u',
      template: aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'spot' } }),
      ...changes,
    });

  test('a pod that admission sent to spot', () => {
    expect(waitsForSpot(sides, workload, pod())).toBe(true);
  });

  test.each<[string, Partial<PodRecord>]>([
    ['on-demand: the floor is never met otherwise (hazard H7)', { capacity: 'on-demand' }],
    ['no side', { capacity: undefined }],
    ['no admission of ours', { admissionId: undefined }],
    ['a node', { nodeName: 'n' }],
    ['an end in sight', { deletingAt: NOON }],
    ['no verdict of the scheduler', { unschedulableSince: undefined }],
    ['run already', { phase: 'Running' }],
    ['been pinned there by others, who would pin the next one', { pinned: true }],
  ])('not one that has %s', (_, changes) => {
    expect(waitsForSpot(sides, workload, pod(changes))).toBe(false);
  });

  test('not one whose template names spot itself', () => {
    const pinned = aDeployment({ template: aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'spot' } }) });
    expect(waitsForSpot(sides, pinned, pod())).toBe(false);
  });
});

describe('how many', () => {
  test.each([
    [100, 8, 8],
    [50, 8, 4],
    [50, 3, 2],
    [0, 8, 0],
  ])('%i percent of %i spot replicas are %i', (maxPercent, spot, expected) => {
    const fallback = { ...settings.fallback, maxPercent };
    expect(maxExcessOf({ spot, onDemand: 2 }, someSettings({ fallback }))).toBe(expected);
  });
});

test('a workload with waiting pods has no other move decided at the same time', () => {
  const world = waiting([NOON]);
  world.now = NOON + 10 * MINUTE;
  world.pods = world.pods.map((pod) => (pod.capacity === 'on-demand' ? { ...pod, nodeName: 'node-spot' } : pod));
  expect(plan(world).decisions.map(({ kind }) => kind)).toEqual(['fallback']);
});

test('a plan made without an operator assumes nothing against spot', () => {
  const world = waiting([]);
  const { workload, now } = world;
  const view = viewOf(world);
  const input = { view, sides, workload, settings, policy: world.readPolicy(view, workload), now };
  expect(planWorkload({ ...input, spot: untroubledSpot })).toEqual(planWorkload(input));
});

test('for any waits the due time is never before patience, never after three times that, and grows with the landing', () => {
  const pod = (since: number) => aPod(aReplicaSet(aDeployment()), 'p', { unschedulableSince: since });
  fc.assert(
    fc.property(
      fc.nat({ max: 10_000 }),
      fc.nat({ max: 10_000 }),
      fc.nat({ max: 10_000 }),
      (since, patience, landed) => {
        const due = strandedAt(pod(since), patience, landed);
        expect(due).toBeGreaterThanOrEqual(since + patience);
        expect(due).toBeLessThanOrEqual(since + 3 * patience);
        expect(strandedAt(pod(since), patience, landed + 1)).toBeGreaterThanOrEqual(due);
      },
    ),
  );
});

test('pods sent to spot one after the other are recreated until on-demand covers for all', () => {
  const world = worldOf(4, 50, 0);
  for (let index = 0; index < 4; index++) {
    const decision = admitSteered(world);
    const changes =
      decision.side === 'spot'
        ? ({ nodeName: undefined, phase: 'Pending', ready: false, unschedulableSince: NOON } as const)
        : {};
    world.pods.push(podFrom(world, decision, changes));
  }
  world.now = NOON + 5 * MINUTE;
  let fallbacks = 0;
  for (let decision = fallbackOf(world); decision !== undefined; decision = fallbackOf(world)) {
    const { uid } = decision.pod;
    world.pods = world.pods.filter((pod) => pod.uid !== uid);
    world.pods.push(podFrom(world, admitSteered(world), { nodeName: 'node-on-demand', fallback: true }));
    fallbacks++;
  }
  expect(fallbacks).toBe(2);
});

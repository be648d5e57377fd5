/** What is promised beside a workload, while the cluster and what is done to it change between two looks. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { yetToTake } from '../../decide/rightsizing/held-of-quota.ts';
import type { PromisedUse, QuotaPromises } from '../../decide/rightsizing/joint-fit.ts';
import { readAppliedSizes, withAppliedSizes } from '../../model/applied-sizes.ts';
import { givenBack } from '../../model/awaited-pods.ts';
import type { QuotaSubject } from '../../model/quota-scopes.ts';
import type { PodRecord } from '../../model/records.ts';
import { mostOfAll, readReplicaSizes, stateOfPod } from '../../model/replica-sizes.ts';
import { addUse, noUse, type QuotaUse, quotaGrowth, quotaUse, withLimitDefaults } from '../../model/size-bounds.ts';
import { NOON } from '../../model/testing/records.ts';
import { createPromisesWorld, type Name, namespaceOf } from '../testing/promises-world.ts';

type World = ReturnType<typeof createPromisesWorld>;

/** The same, counted over all workloads. */
function countedAnew({ options, all }: World, { namespace, uid }: { namespace: string; uid: string }): QuotaPromises {
  const { view, actingOn, isAllocated, resizes, clock } = options;
  const now = clock.now();
  const asked = new Map(resizes().map(({ pod, changes }) => [pod.uid, changes]));
  const promised: PromisedUse[] = [];
  let [surge, returning] = [noUse, noUse];
  for (const workload of all()) {
    if (workload.namespace !== namespace) continue;
    const { annotations, containers } = workload;
    if (workload.needsSurge === true && workload.replicas > 0) {
      const one = quotaGrowth([], withLimitDefaults(view.limitRanges(namespace), containers), []);
      const most = surge;
      surge = quotaUse((key) => Math.max(most[key], one[key]));
    }
    if (workload.uid === uid) continue;
    const pods = view.podsOf(workload);
    returning = addUse(returning, givenBack(workload, pods, { isGoing: () => false, now }));
    const memory = actingOn(workload.uid);
    if (memory === undefined) continue;
    const states = readReplicaSizes(annotations[rightsizingKeys.replicaSizes], containers);
    const written = withAppliedSizes(containers, readAppliedSizes(annotations[rightsizingKeys.appliedSizes]));
    const onTheirWay = pods.flatMap(({ pod }) => {
      const changes = asked.get(pod.uid) ?? [];
      return stateOfPod(states, workload, pod) === undefined ? changes : [];
    });
    const begun = [...memory.watches.ongoing.flatMap(({ changes }) => changes), ...onTheirWay];
    const sizes = mostOfAll(
      written,
      new Map(begun.map(({ container, to: size }, index) => [String(index), { sizes: new Map([[container, size]]) }])),
    );
    promised.push(yetToTake({ workload, sizes, states, isAllocated, now }, pods));
  }
  const awaited = { count: 1, each: surge, least: surge, returning: noUse, like: undefined };
  if (surge !== noUse) promised.push({ growth: noUse, awaited, like: undefined });
  return { promised, returning };
}

/** What quotas make of it: what grows is one sum for pods that they count alike. */
function summed({ promised, returning }: QuotaPromises) {
  const called = (like: QuotaSubject | undefined): string =>
    like === undefined ? 'any' : `${like.qos} ${like.priorityClassName} ${like.hasDeadline === true}`;
  const sums = new Map<string, QuotaUse>();
  for (const { like, growth } of promised) sums.set(called(like), addUse(sums.get(called(like)) ?? noUse, growth));
  const awaited = promised.flatMap(({ awaited: missing, like }) =>
    missing === undefined ? [] : [JSON.stringify([called(like), { ...missing, like: called(missing.like) }])],
  );
  const growth = [...sums].filter(([, { cpuRequest, cpuLimit }]) => cpuRequest + cpuLimit > 0);
  return {
    growth: growth.map((each) => JSON.stringify(each)).toSorted(),
    awaited: awaited.toSorted(),
    returning: Math.round(returning.cpuRequest * 1e6),
  };
}

const name = fc.constantFrom<Name>('a', 'a', 'b', 'b', 'c', 'd', 'x');
const ordinal = fc.integer({ min: 0, max: 2 });
const cpu = fc.constantFrom(50, 100, 250, 400);
const maybe = fc.option(cpu, { nil: undefined });

const workloadState = fc.record({
  replicas: fc.integer({ min: 0, max: 3 }),
  applied: cpu,
  own: maybe,
  needsSurge: fc.boolean(),
});
const podState = fc.record({
  cpu,
  priorityClassName: fc.constantFrom('', 'high'),
  phase: fc.constantFrom<PodRecord['phase']>('Running', 'Running', 'Running', 'Failed'),
  deletingAt: fc.constantFrom(undefined, undefined, undefined, NOON + 5_000),
});

type Step = (world: World) => unknown;

const step = fc.oneof(
  fc.tuple(name, workloadState).map(
    ([who, state]): Step =>
      (world) =>
        world.putWorkload(who, state),
  ),
  name.map(
    (who): Step =>
      (world) =>
        world.removeWorkload(who),
  ),
  fc.tuple(name, ordinal, podState).map(
    ([who, at, state]): Step =>
      (world) =>
        world.putPod(who, at, state),
  ),
  fc.tuple(name, ordinal, podState).map(
    ([who, at, state]): Step =>
      (world) =>
        world.putPod(who, at, state),
  ),
  fc.tuple(name, ordinal).map(
    ([who, at]): Step =>
      (world) =>
        world.removePod(who, at),
  ),
  fc.tuple(name, fc.option(fc.array(cpu, { maxLength: 2 }), { nil: undefined })).map(
    ([who, changes]): Step =>
      (world) =>
        world.watch(who, changes),
  ),
  fc.tuple(name, ordinal, maybe).map(
    ([who, at, size]): Step =>
      (world) =>
        world.ask(who, at, size),
  ),
  maybe.map(
    (size): Step =>
      (world) =>
        world.bound(size),
  ),
  fc.integer({ min: 1, max: 9_000 }).map(
    (millis): Step =>
      (world) =>
        world.clock.advance(millis),
  ),
);

/** Two workloads of two pods each that are being sized, before anything else happens. */
function begin(): World {
  const world = createPromisesWorld();
  for (const each of ['a', 'b'] as const) {
    world.putWorkload(each, { replicas: 2, applied: 250, needsSurge: false });
    for (const at of [0, 1])
      world.putPod(each, at, { cpu: 100, priorityClassName: '', phase: 'Running', deletingAt: undefined });
    world.watch(each, []);
  }
  return world;
}

test('for any changes, between any two looks, comes out as if it were counted anew', async () => {
  let growing = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const world = begin();
      for (const change of steps) {
        await change(world);
        for (const each of ['a', 'b', 'x'] as const) {
          const asking = { namespace: namespaceOf(each), uid: world.uidOf(each) };
          const answer = summed(world.beside(asking));
          expect(answer).toEqual(summed(countedAnew(world, asking)));
          growing += answer.growth.length;
        }
      }
    }),
    { numRuns: 150 },
  );
  expect(growing).toBeGreaterThan(100);
});

test('pods of a workload are looked at once, and again when it changes or something is begun with it', () => {
  const world = begin();
  const asking = { namespace: 'shop', uid: world.uidOf('a') };
  const readsOf = (change: () => void = () => {}): number => {
    change();
    world.reads();
    world.beside(asking);
    return world.reads();
  };
  expect(readsOf()).toBe(1);
  expect(readsOf()).toBe(0);
  const bigger = { cpu: 250, priorityClassName: '', phase: 'Running', deletingAt: undefined } as const;
  expect(readsOf(() => world.putPod('b', 0, bigger))).toBe(1);
  expect(readsOf(() => world.putPod('a', 0, bigger))).toBe(0);
  expect(readsOf(() => world.watch('b', [400]))).toBe(1);
  expect(readsOf()).toBe(0);
});

test('that allocation has come to share out the CPU of a pod counts ten seconds later', async () => {
  const world = begin();
  const asking = { namespace: 'shop', uid: world.uidOf('a') };
  const promised = (): number => world.beside(asking).promised.reduce((sum, { growth }) => sum + growth.cpuRequest, 0);
  expect(promised()).toBe(300);
  world.allocated.add('b-0');
  await world.clock.advance(10_000);
  expect(promised()).toBe(150);
});

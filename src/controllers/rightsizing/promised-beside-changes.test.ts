/** What is promised beside a workload, while the cluster and what is done to it change between two looks. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { yetToTake } from '../../decide/rightsizing/held-of-quota.ts';
import type { PromisedUse, QuotaPromises } from '../../decide/rightsizing/joint-fit.ts';
import type { InFlightResize } from '../../guard/size/context.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { readAppliedSizes, withAppliedSizes, writeAppliedSizes } from '../../model/applied-sizes.ts';
import { givenBack } from '../../model/awaited-pods.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { QuotaSubject } from '../../model/quota-scopes.ts';
import type { PodRecord } from '../../model/records.ts';
import { freshState, mostOfAll, readReplicaSizes, stateOfPod, writeReplicaSizes } from '../../model/replica-sizes.ts';
import { addUse, noUse, type QuotaUse, quotaGrowth, quotaUse, withLimitDefaults } from '../../model/size-bounds.ts';
import type { LimitRangeRecord, SizedWorkload } from '../../model/sizing-records.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aLimitRange, aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { SizingChange } from '../../observe/sizing/live-sizing-view.ts';
import { anOngoingChange } from '../testing/ongoing-change.ts';
import { createPromisedBeside, type PromisedBesideOptions } from './promised-beside.ts';
import type { OngoingChange, Watches } from './watches.ts';

const of = (cpuRequest: number) => [aContainer({ size: { cpuRequest } })];
const template = of(100);
const to = (cpuRequest: number) => [{ container: 'app', to: { cpuRequest } }];

const KINDS = { a: 'StatefulSet', b: 'StatefulSet', c: 'DaemonSet', d: 'Job', x: 'StatefulSet' } as const;
type Name = keyof typeof KINDS;
const namespaceOf = (name: Name): string => (name === 'x' ? 'other' : 'shop');

function createWorld() {
  const clock = createVirtualClock(NOON);
  const workloads = new Map<Name, SizedWorkload>();
  const pods = new Map<string, PodRecord>();
  const ongoing = new Map<string, readonly OngoingChange[]>();
  const resizes = new Map<string, InFlightResize>();
  const allocated = new Set<string>();
  let limitRanges: readonly LimitRangeRecord[] = [];
  let snapshot = createSizingSnapshot({});
  let made = 0;
  let read = 0;
  const listeners: ((change: SizingChange) => void)[] = [];
  const view = new Proxy({} as PromisedBesideOptions['view'] & SizingView, {
    get(_, key: keyof SizingView | 'onChange') {
      if (key === 'onChange') return (listener: (change: SizingChange) => void) => listeners.push(listener);
      if (key === 'podsOf') read++;
      return snapshot[key];
    },
  });
  const show = (change: SizingChange | undefined): void => {
    snapshot = createSizingSnapshot({ workloads: [...workloads.values()], pods: [...pods.values()], limitRanges });
    if (change !== undefined) for (const listener of listeners) listener(change);
  };
  const changed = (name: Name): SizingChange | undefined => {
    const workload = workloads.get(name);
    return workload && { kind: 'workload', key: workloadKey(workload) };
  };
  const options: PromisedBesideOptions = {
    view,
    actingOn(uid) {
      const watched = ongoing.get(uid);
      return watched && { watches: { ongoing: watched } as unknown as Watches };
    },
    isAllocated: ({ pod }) => allocated.has(pod.name),
    resizes: () => [...resizes.values()],
    clock,
  };
  return {
    clock,
    allocated,
    options,
    beside: createPromisedBeside(options),
    all: () => snapshot.workloads(),
    uidOf: (name: Name) => workloads.get(name)?.uid ?? '',
    /** How often pods of a workload were asked for since this was asked last. */
    reads() {
      const count = read;
      read = 0;
      return count;
    },
    putWorkload(name: Name, { replicas, applied, own, needsSurge }: WorkloadState): void {
      const states = new Map(own === undefined ? [] : [['1', freshState(of(own))]]);
      const texts = {
        [rightsizingKeys.appliedSizes]: writeAppliedSizes(template, of(applied)),
        [rightsizingKeys.replicaSizes]: writeReplicaSizes(template, states),
      };
      const annotations = Object.fromEntries(
        Object.entries(texts).flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const])),
      );
      const uid = workloads.get(name)?.uid ?? `${name}/${made++}`;
      const about = { kind: KINDS[name], namespace: namespaceOf(name), name, uid, containers: template, annotations };
      workloads.set(name, aSizedWorkload({ ...about, replicas, ...(needsSurge && { needsSurge: true }) }));
      show(changed(name));
    },
    removeWorkload(name: Name): void {
      const workload = workloads.get(name);
      if (workload === undefined) return;
      workloads.delete(name);
      show({ kind: 'workload-deleted', key: workloadKey(workload), uid: workload.uid });
    },
    putPod(name: Name, ordinal: number, { cpu, priorityClassName, ...state }: PodState): void {
      const podName = `${name}-${ordinal}`;
      const owner = { kind: KINDS[name], namespace: namespaceOf(name), name, uid: workloads.get(name)?.uid ?? 'gone' };
      const sizing = { containers: of(cpu), priorityClassName };
      pods.set(podName, aSizedPod(owner, podName, sizing, { uid: podName, ...state }));
      show(changed(name));
    },
    removePod(name: Name, ordinal: number): void {
      pods.delete(`${name}-${ordinal}`);
      show(changed(name));
    },
    watch(name: Name, cpu: readonly number[] | undefined): void {
      const uid = workloads.get(name)?.uid ?? '';
      if (cpu === undefined) ongoing.delete(uid);
      else
        ongoing.set(
          uid,
          cpu.map((each) => anOngoingChange(to(each), template)),
        );
    },
    ask(name: Name, ordinal: number, cpu: number | undefined): void {
      const pod = { namespace: namespaceOf(name), name: `${name}-${ordinal}`, uid: `${name}-${ordinal}` };
      if (cpu === undefined) resizes.delete(pod.uid);
      else resizes.set(pod.uid, { pod, engine: 'rightsizing', since: NOON, changes: to(cpu) });
    },
    bound(cpu: number | undefined): void {
      limitRanges = cpu === undefined ? [] : [aLimitRange({ defaultLimit: { cpu } })];
      show({ kind: 'bounds', namespace: 'shop' });
    },
  };
}

interface WorkloadState {
  readonly replicas: number;
  readonly applied: number;
  readonly own?: number | undefined;
  readonly needsSurge: boolean;
}

interface PodState extends Pick<PodRecord, 'phase' | 'deletingAt'> {
  readonly cpu: number;
  readonly priorityClassName: string;
}

type World = ReturnType<typeof createWorld>;

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
  const world = createWorld();
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

/** The live view knows which workloads are unsettled, whatever the informers tell, and in whatever order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/core.ts';
import { isUnsettled } from '../../model/awaited-pods.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import { createManualSizingView } from './testing/manual-sizing-view.ts';

function createWorld() {
  let version = 0;
  return { ...createManualSizingView(), nextVersion: () => String(++version) };
}

type World = ReturnType<typeof createWorld>;

const container = { name: 'app', image: 'app:1', resources: { requests: { cpu: '100m' } } };
const template = { spec: { containers: [container] } };
const named = (name: string, uid: string, owner?: readonly [kind: string, uid: string]) => ({
  name,
  namespace: 'shop',
  uid,
  ...(owner && {
    ownerReferences: [
      {
        apiVersion: ['Job', 'CronJob'].includes(owner[0]) ? 'batch/v1' : 'apps/v1',
        kind: owner[0],
        name: owner[1],
        uid: owner[1],
        controller: true,
      },
    ],
  }),
});

/** Whatever owns these pods, at either uid: made anew under its name it has another. */
const OWNERS = [
  ['StatefulSet', 'db'],
  ['DaemonSet', 'agent'],
  ['ReplicaSet', 'web-1'],
  ['ReplicaSet', 'web-2'],
  ['Job', 'nightly-1'],
] as const;

type Step = (world: World) => void;

/** Puts it, or takes it away where there is one. */
function either<T extends KubeObject>(
  store: (world: World) => { put(object: T): void; remove(object: T): void },
  isPut: boolean,
  object: () => T,
): Step {
  return (world) => {
    const { metadata, ...rest } = object();
    const versioned = { ...rest, metadata: { ...metadata, resourceVersion: world.nextVersion() } } as unknown as T;
    if (isPut) store(world).put(versioned);
    else store(world).remove(versioned);
  };
}

const isThere = fc.constantFrom(true, true, true, false);
const replicas = fc.integer({ min: 0, max: 2 });
const uidOf = (name: string, generation: number): string => `${name}/${generation}`;
const generation = fc.constantFrom(1, 1, 1, 2);

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(isThere, replicas, generation).map(([there, count, at]) =>
    either(
      ({ stores }) => stores.statefulSets,
      there,
      () => ({
        metadata: named('db', uidOf('db', at)),
        spec: { replicas: count, selector: {}, serviceName: '', template },
      }),
    ),
  ),
  fc.tuple(isThere, replicas, generation).map(([there, count, at]) =>
    either(
      ({ stores }) => stores.deployments,
      there,
      () => ({ metadata: named('web', uidOf('web', at)), spec: { replicas: count, selector: {}, template } }),
    ),
  ),
  fc.tuple(isThere, replicas).map(([there, count]) =>
    either(
      ({ sizingStores }) => sizingStores.daemonSets,
      there,
      () => ({
        metadata: named('agent', uidOf('agent', 1)),
        spec: { selector: {}, template },
        status: { desiredNumberScheduled: count, currentNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
      }),
    ),
  ),
  fc.tuple(isThere, fc.constantFrom('web-1', 'web-2'), fc.constantFrom(undefined, 1, 2)).map(([there, name, owner]) =>
    either(
      ({ stores }) => stores.replicaSets,
      there,
      () => ({
        metadata: named(name, uidOf(name, 1), owner === undefined ? undefined : ['Deployment', uidOf('web', owner)]),
        spec: { replicas: 1, selector: {}, template },
      }),
    ),
  ),
  fc.tuple(isThere, fc.boolean()).map(([there, isOwned]) =>
    either(
      ({ sizingStores }) => sizingStores.jobs,
      there,
      () => ({
        metadata: named('nightly-1', uidOf('nightly-1', 1), isOwned ? ['CronJob', uidOf('nightly', 1)] : undefined),
        spec: { template },
      }),
    ),
  ),
  isThere.map((there) =>
    either(
      ({ sizingStores }) => sizingStores.cronJobs,
      there,
      () => ({
        metadata: named('nightly', uidOf('nightly', 1)),
        spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template } } },
      }),
    ),
  ),
  ...[1, 2, 3].map(() =>
    fc
      .tuple(
        isThere,
        fc.constantFrom(...OWNERS),
        generation,
        fc.integer({ min: 0, max: 2 }),
        fc.boolean(),
        fc.boolean(),
      )
      .map(([there, [kind, name], at, ordinal, isLeaving, isOver]) =>
        either(
          ({ stores }) => stores.pods,
          there,
          () => ({
            metadata: {
              ...named(`${name}-${ordinal}`, uidOf(`${name}-${ordinal}`, at), [kind, uidOf(name, at)]),
              ...(isLeaving && { deletionTimestamp: '2026-01-31T12:00:00Z' }),
            },
            spec: { containers: [container], nodeName: 'n1' },
            status: { phase: isOver ? 'Failed' : 'Running' },
          }),
        ),
      ),
  ),
);

const uidsOf = (workloads: readonly SizedWorkload[]) => workloads.map(({ uid }) => uid).toSorted();

test('for any changes, as told by the informers', () => {
  let unsettled = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = createWorld();
      const { view } = world;
      for (const change of steps) {
        change(world);
        const all = [...view.workloads()];
        expect(uidsOf(view.workloadsIn('shop'))).toEqual(uidsOf(all));
        const podsOf = (workload: SizedWorkload) => view.podsOf(workload).map(({ pod }) => pod);
        const answer = view.unsettled('shop');
        expect(uidsOf(answer)).toEqual(uidsOf(all.filter((workload) => isUnsettled(workload, podsOf(workload)))));
        unsettled += answer.length;
      }
      expect(view.unsettled('other')).toEqual([]);
    }),
    { numRuns: 200 },
  );
  expect(unsettled).toBeGreaterThan(100);
});

const leaving = { deletionTimestamp: '2026-01-31T12:00:00Z' };
const podOf = (owner: readonly [kind: string, uid: string], more: object = {}) => ({
  metadata: { ...named('pod', 'pod', owner), ...more },
  spec: { containers: [container] },
  status: { phase: 'Running' },
});

test('a CronJob is, once a Job is known to be its own of which a pod is on its way out, and as long as it is', () => {
  const { view, stores, sizingStores } = createWorld();
  const spec = { schedule: '0 0 * * *', jobTemplate: { spec: { template } } };
  sizingStores.cronJobs.put({ metadata: named('nightly', 'nightly'), spec });
  stores.pods.put(podOf(['Job', 'job'], leaving));
  expect(uidsOf(view.unsettled('shop'))).toEqual([]);
  const owned = named('job', 'job', ['CronJob', 'nightly']);
  sizingStores.jobs.put({ metadata: { ...owned, resourceVersion: '1' }, spec: { template } });
  expect(uidsOf(view.unsettled('shop'))).toEqual(['nightly']);
  sizingStores.jobs.put({ metadata: { ...named('job', 'job'), resourceVersion: '2' }, spec: { template } });
  expect(uidsOf(view.unsettled('shop'))).toEqual(['job']);
});

test('whoever loses a ReplicaSet to another is, and no more who has it now', () => {
  const { view, stores } = createWorld();
  for (const name of ['web', 'api'])
    stores.deployments.put({ metadata: named(name, name), spec: { replicas: 1, selector: {}, template } });
  const owned = (owner: string, resourceVersion: string) => ({
    metadata: { ...named('set', 'set', ['Deployment', owner]), resourceVersion },
    spec: { replicas: 1, selector: {}, template },
  });
  stores.replicaSets.put(owned('web', '1'));
  stores.pods.put(podOf(['ReplicaSet', 'set']));
  expect(uidsOf(view.unsettled('shop'))).toEqual(['api']);
  stores.replicaSets.put(owned('api', '2'));
  expect(uidsOf(view.unsettled('shop'))).toEqual(['web']);
});

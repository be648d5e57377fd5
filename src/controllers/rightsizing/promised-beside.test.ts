import { describe, expect, test } from 'vitest';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import type { InFlightResize } from '../../guard/size/context.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { writeAppliedSizes } from '../../model/applied-sizes.ts';
import { freshState, writeReplicaSizes } from '../../model/replica-sizes.ts';
import { noUse } from '../../model/size-bounds.ts';
import { createSizingSnapshot, type SizingRecords } from '../../model/sizing-snapshot.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aLimitRange, aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { anOngoingChange } from '../testing/ongoing-change.ts';
import { createPromisedBeside } from './promised-beside.ts';
import type { OngoingChange, Watches } from './watches.ts';

const of = (cpuRequest: number) => [aContainer({ size: { cpuRequest } })];
const template = of(100);
const to = (cpuRequest: number) => [{ container: 'app', to: { cpuRequest } }];
const applied = (cpuRequest: number) => ({
  [rightsizingKeys.appliedSizes]: writeAppliedSizes(template, of(cpuRequest)) ?? '',
});

/** In which nothing changes. */
const viewOf = (records: SizingRecords) => ({ ...createSizingSnapshot(records), onChange: () => () => {} });

interface Scene {
  /** CPU that the pods of `db` request. */
  readonly has?: readonly number[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ongoing?: readonly OngoingChange[];
  readonly resizes?: readonly InFlightResize[];
  readonly isActing?: boolean;
  readonly namespace?: string;
  readonly needsSurge?: true;
  /** CPU that a container requests which is added to each pod; each pod its own, in their order. */
  readonly injected?: readonly number[];
}

/** What is promised beside `web` of namespace `shop`, where there is `db` of two, as far as CPU requests go. */
function promisedTo({ has = [100, 100], annotations = {}, ongoing = [], resizes = [], ...rest }: Scene) {
  const { isActing = true, namespace = 'shop', injected, ...about } = rest;
  const added = (injected ?? []).map((cpuRequest) => [aContainer({ name: 'proxy', size: { cpuRequest } })]);
  const db = aSizedWorkload({
    kind: 'StatefulSet',
    name: 'db',
    uid: 'db',
    namespace,
    replicas: 2,
    containers: template,
    annotations,
    ...about,
  });
  const owner = { kind: 'StatefulSet', name: 'db', uid: 'db', namespace };
  const pods = has.map((cpu, index) =>
    aSizedPod(
      owner,
      `db-${index}`,
      { containers: [...of(cpu), ...(added[index] ?? [])] },
      { uid: `db-${index}`, namespace, createdAt: NOON + index },
    ),
  );
  const beside = createPromisedBeside({
    view: viewOf({ workloads: [aSizedWorkload(), db], pods }),
    actingOn: (uid) => (isActing && uid === 'db' ? { watches: { ongoing } as unknown as Watches } : undefined),
    isAllocated: () => false,
    resizes: () => resizes,
    clock: createVirtualClock(NOON),
  });
  return beside({ namespace: 'shop', uid: 'uid-web' }).promised.map(({ growth, awaited }) => {
    expect(growth).toEqual({ ...noUse, cpuRequest: growth.cpuRequest });
    return growth.cpuRequest + (awaited === undefined ? 0 : awaited.count * awaited.each.cpuRequest);
  });
}

describe('what a workload is promised', () => {
  test.each<[string, Scene, readonly number[]]>([
    ['nothing that it has already', {}, []],
    ['what is in force and its pods do not have yet', { annotations: applied(400), has: [400, 100] }, [300]],
    ['what is in force, for a pod that is missing', { annotations: applied(400), has: [400] }, [400]],
    ['what is tried on the first pod', { ongoing: [anOngoingChange(to(300), template, { phase: 'canary' })] }, [400]],
    ['what was put in force a moment ago', { ongoing: [anOngoingChange(to(300), template)] }, [400]],
    ['not less, before all have less', { ongoing: [anOngoingChange(to(50), template, { phase: 'canary' })] }, []],
    ['nothing while nobody sizes it', { annotations: applied(400), isActing: false }, []],
    ['one pod more by its template, for a rollout that takes none away first', { needsSurge: true }, [100]],
    ['with what is added to its newest pod', { needsSurge: true, injected: [50, 30] }, [130]],
    ['that by whoever it is sized', { annotations: applied(400), needsSurge: true, isActing: false }, [100]],
    ['nothing of this namespace where it is in another', { annotations: applied(400), namespace: 'other' }, []],
  ])('%s', (_, scene, expected) => {
    expect(promisedTo(scene)).toEqual(expected);
  });

  test('one pod more in all, as large as the largest of any', () => {
    const containers = [aContainer({ size: { memoryRequest: 64 } })];
    const workloads = [
      aSizedWorkload({ needsSurge: true, containers: of(200) }),
      aSizedWorkload({ name: 'api', uid: 'api', needsSurge: true, containers: of(300) }),
      aSizedWorkload({ name: 'log', uid: 'log', needsSurge: true, containers }),
    ];
    const limitRanges = [aLimitRange({ defaultRequest: { cpu: 400 } })];
    const beside = createPromisedBeside({
      view: viewOf({ workloads, limitRanges }),
      actingOn: () => undefined,
      isAllocated: () => false,
      resizes: () => [],
      clock: createVirtualClock(NOON),
    });
    const each = { ...noUse, cpuRequest: 400, memoryRequest: 64 };
    expect(beside(aSizedWorkload())).toMatchObject({
      promised: [{ growth: noUse, awaited: { count: 1, each } }],
      returning: noUse,
    });
  });

  test('what its first pod is asked for counts before the answer', () => {
    const pod = { namespace: 'shop', name: 'db-1', uid: 'db-1' };
    const resize: InFlightResize = { pod, engine: 'rightsizing', since: NOON, changes: to(250) };
    expect(promisedTo({ resizes: [resize] })).toEqual([300]);
    expect(promisedTo({ resizes: [{ ...resize, pod: { ...pod, uid: 'gone' } }] })).toEqual([0]);
  });

  test('what one replica is given for itself is for nobody else', () => {
    const states = new Map([['1', freshState(of(900))]]);
    const annotations = { [rightsizingKeys.replicaSizes]: writeReplicaSizes(template, states) ?? '' };
    const pod = { namespace: 'shop', name: 'db-1', uid: 'db-1' };
    const resize: InFlightResize = { pod, engine: 'rightsizing', since: NOON, changes: to(900) };
    expect(promisedTo({ annotations, resizes: [resize] })).toEqual([800]);
    expect(promisedTo({ annotations, has: [100, 900] })).toEqual([]);
  });

  test('what others give back of pods that are on their way out, or that a rollout has too many of, whoever sizes them', () => {
    const named = (name: string, replicas: number) =>
      aSizedWorkload({ kind: 'StatefulSet', name, uid: name, replicas });
    const workloads = [named('web', 1), named('db', 1), named('log', 0)];
    const pods = workloads.flatMap(({ kind, namespace, name, uid }) =>
      [undefined, NOON].map((deletingAt, index) =>
        aSizedPod({ kind, namespace, name, uid }, `${name}-${index}`, { containers: of(70) }, { deletingAt }),
      ),
    );
    const beside = createPromisedBeside({
      view: viewOf({ workloads, pods }),
      actingOn: () => undefined,
      isAllocated: () => false,
      resizes: () => [],
      clock: createVirtualClock(NOON),
    });
    expect(beside({ namespace: 'shop', uid: 'web' })).toEqual({
      promised: [],
      returning: { ...noUse, cpuRequest: 210 },
    });
  });
});

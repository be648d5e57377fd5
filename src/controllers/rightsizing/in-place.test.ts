import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { watchChange } from '../../decide/rightsizing/watched-change.ts';
import type { ResizeDecision } from '../../decide/size-decision.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import { noReplicas } from '../../model/replica-sizes.ts';
import type { ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { createInPlace, type InPlaceOptions } from './in-place.ts';
import { createRightsizingMemory, type WorkloadMemory } from './memory.ts';
import { nothingSeen } from './throttling.ts';

const replicaSet = aReplicaSet(aDeployment());
const before = [aContainer({ size: { cpuRequest: 200, memoryRequest: 128 * MIB } })];
const lessCpu: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 100 } }];
const lessMemory: readonly SizeChange[] = [{ container: 'app', to: { memoryRequest: 64 * MIB } }];

const closed = { schedule: [{ cron: '0 13 * * *', duration: '1h' }] };

const harmed: Partial<WorkloadMemory> = { takenBack: [{ container: 'app', resource: 'memory' }] };
const putBack = [['other', [{ container: 'app', to: { memoryRequest: 128 * MIB } }], true]];

const pod = (
  name: string,
  changes: readonly SizeChange[],
  status: Partial<ContainerStatusRecord> = {},
  createdAt = NOON - 3_600_000,
): SizedPod => {
  // Sized by rightsizing, which so has a say in all of its sizes.
  const marks = { [sizingKeys.originalResources]: '{}' };
  const containers = applyChanges(before, changes);
  const statuses = containers.map((each) => aContainerStatus(each, status));
  const record = aSizedPod(replicaSet, name, { containers, statuses, marks }, { uid: name, createdAt });
  return { pod: record, sizing: record.sizing };
};

/**
 * One look at a workload whose first pod has had less CPU for the whole time that it is watched, while the window is
 * closed; another pod still has less memory than is in force.
 */
async function look(
  changed: Partial<WorkloadMemory>,
  advised: Partial<ApplyContext['advised']> = {},
  live?: readonly SizedPod[],
  updateStrategy: object = live === undefined ? closed : {},
) {
  const asked: ResizeDecision[] = [];
  const written: unknown[] = [];
  const made: (readonly SizeChange[])[] = [];
  const clock = createVirtualClock(NOON);
  const inPlace = createInPlace({
    actuator: {
      isResizing: () => false,
      lacksRoom: () => false,
      async resize(decision: ResizeDecision) {
        asked.push(decision);
        return { kind: 'asked', tookFrom: [] };
      },
    },
    sizeReplicas: async () => ({ states: noReplicas }),
    makeRoom: Object.assign(async () => undefined, { isTime: async () => false }),
    changes: {
      judge: async () => [],
      noteMade: (_: unknown, { changes }: { readonly changes: readonly SizeChange[] }) => void made.push(changes),
    },
    settings: () => ({ canaryMillis: 180_000, revertMillis: 1_800_000, restart: {} }),
    isAllocated: () => false,
    clock,
  } as unknown as InPlaceOptions);
  const canary = { uid: 'first', name: 'first', at: NOON - 600_000 };
  const watched = watchChange(lessCpu, before, [], NOON - 600_000);
  const memory = Object.assign(createRightsizingMemory().of('uid-web'), {
    ongoing: [{ ...watched, method: 'InPlace', phase: 'canary', canary, throttling: nothingSeen() }],
    ...changed,
  });
  const context = {
    advised: {
      workload: aSizedWorkload({ containers: before }),
      inForce: before,
      advice: [],
      lessons: { floors: [], reverts: 0 },
      ...advised,
    },
    policy: validPolicy({ spec: { updateStrategy } }),
    memory,
    live: live ?? [pod('first', lessCpu), pod('other', lessMemory)],
    annotate: async (wanted: Readonly<Record<string, unknown>>) =>
      void written.push(wanted['optipod.io/applied-sizes']),
    signal: new AbortController().signal,
  } as unknown as ApplyContext;
  const result = await inPlace(context);
  const told = asked.map((each) => [each.pod.name, each.changes, each.isRestore === true]);
  return { result, asked: told, written, made, memory };
}

/** Of the container `app`, more of both is due. */
const moreOfBoth = [
  {
    container: 'app',
    current: before[0]?.size ?? {},
    cpu: { isDue: true, request: 400, notes: [] },
    memory: { isDue: true, request: 256 * MIB, notes: [] },
  },
] as unknown as readonly SizedAdvice[];

describe('the window closed while the first pod with less was watched', () => {
  test('the others wait until it opens, and that is told', async () => {
    const { result, asked } = await look({});
    expect(result).toMatchObject({ status: 'Pending', reason: 'OutsideUpdateWindow', againAfterMillis: 60_000 });
    expect(asked).toEqual([]);
  });

  test('what did harm is put back all the same', async () => {
    const { asked } = await look(harmed);
    expect(asked).toEqual(putBack);
  });
});

test('what a pod was given before a change of leader, and nobody wrote, is put in force and not taken from it', async () => {
  const moreMemory = [{ container: 'app', to: { memoryRequest: 256 * MIB } }];
  const memoryOnly = [{ ...moreOfBoth[0], cpu: { isDue: false, notes: [] } }] as unknown as readonly SizedAdvice[];
  const live = [pod('newest', [], {}, NOON), pod('given', moreMemory), pod('other', [])];
  const { asked, memory } = await look({ ongoing: [] }, { advice: memoryOnly }, live);
  expect(asked).toEqual([]);
  expect(memory.ongoing).toMatchObject([{ phase: 'canary', canary: { uid: 'given' }, changes: moreMemory }]);
});

describe('while somebody rolls out another template', () => {
  // More CPU is due.
  const more = [
    {
      container: 'app',
      current: before[0]?.size ?? {},
      cpu: { isDue: true, request: 400, notes: [] },
      memory: { isDue: false, notes: [] },
    },
  ] as unknown as readonly SizedAdvice[];
  const workload = aSizedWorkload({ isRollingOut: true, containers: before });
  const lastTermination = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - 5_000 };
  const moreMemory = [{ container: 'app', to: { memoryRequest: 256 * MIB } }];
  const inForceNow = JSON.stringify({ app: { memoryRequest: [128 * MIB, 256 * MIB] } });

  test('pods that are killed for want of memory are given what is due of it, and so are those to come', async () => {
    const live = [pod('old', []), pod('new-1', [], { lastTermination }), pod('new-2', [], { lastTermination }, NOON)];
    const { result, asked, written, made, memory } = await look(
      { ongoing: [] },
      { workload, advice: moreOfBoth },
      live,
    );
    expect(asked).toEqual([
      ['new-2', moreMemory, false],
      ['new-1', moreMemory, false],
      ['new-2', moreMemory, false],
    ]);
    expect(written).toEqual([inForceNow]);
    expect(made).toEqual([moreMemory]);
    expect(memory.ongoing).toMatchObject([{ phase: 'spread' }]);
    expect(result).toMatchObject({ status: 'Pending', reason: 'TemplateRollout', againAfterMillis: 5_000 });
  });

  test('what a first pod of the old template was to have is in nobody’s way', async () => {
    const both = [{ container: 'app', to: { cpuRequest: 100, memoryRequest: 256 * MIB } }];
    const first = pod('first', both);
    const watched = watchChange(both, before, [], NOON - 600_000);
    const canary = { uid: 'first', name: 'first', at: NOON - 600_000 };
    const ongoing = [{ ...watched, method: 'InPlace', phase: 'canary', canary, throttling: nothingSeen() }] as const;
    const live = [first, pod('new', [], { lastTermination })];
    const { asked, written, memory } = await look({ ongoing }, { workload, advice: moreOfBoth }, live);
    expect(asked[0]).toEqual(['new', moreMemory, false]);
    expect(written).toEqual([inForceNow]);
    expect(memory.ongoing).toMatchObject([
      { phase: 'canary', changes: lessCpu },
      { phase: 'spread', changes: moreMemory },
    ]);
  });

  test('what a killed pod was given and could not be written is put in force at the next look', async () => {
    const watched = watchChange(moreMemory, before, [], NOON - 5_000);
    const canary = { uid: 'new', name: 'new', at: NOON - 5_000 };
    const ongoing = [{ ...watched, method: 'InPlace', phase: 'canary', canary, throttling: nothingSeen() }] as const;
    const live = [pod('old', []), pod('new', moreMemory, { lastTermination })];
    const { written, memory } = await look({ ongoing }, { workload, advice: moreOfBoth }, live);
    expect(written).toEqual([inForceNow]);
    expect(memory.ongoing).toMatchObject([{ phase: 'spread', changes: moreMemory }]);
  });

  test('what the last leader gave the only pod that is killed, and had no time to write, is in force with what it needs', async () => {
    const given = pod('new', [{ container: 'app', to: { memoryRequest: 192 * MIB } }], { lastTermination });
    const byUs = { ...given.sizing, sizeManagers: ['optipod'] };
    const live = [pod('old', []), { pod: { ...given.pod, sizing: byUs }, sizing: byUs }];
    const { asked, written } = await look({ ongoing: [] }, { workload, advice: moreOfBoth }, live);
    expect(asked[0]).toEqual(['new', moreMemory, false]);
    expect(written).toEqual([inForceNow]);
  });

  const dead = { lastTermination, running: false, ready: false };

  test('one of which nothing runs now is asked nothing, as the API server would refuse it; those to come have more', async () => {
    const live = [pod('old', []), pod('new', [], dead)];
    const { result, asked, written } = await look({ ongoing: [] }, { workload, advice: moreOfBoth }, live);
    expect(asked).toEqual([]);
    expect(written).toEqual([inForceNow]);
    expect(result).toMatchObject({
      status: 'Pending',
      reason: 'TemplateRollout',
      message: expect.stringMatching(/; pod new ends before it can be resized: deleted, it is made anew with/),
    });
  });

  test('for any pods and any advice, only what harm is seen of goes up, and nothing goes down', async () => {
    const amount = fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined });
    const anyPod = fc.record({ isKilled: fc.boolean(), running: fc.boolean(), cpuRequest: amount, memory: amount });
    const anyAdvice = fc.record({ cpu: amount, memory: amount });
    await fc.assert(
      fc.asyncProperty(fc.array(anyPod, { minLength: 1, maxLength: 4 }), anyAdvice, async (some, advised) => {
        const live = some.map(({ isKilled, running, cpuRequest, memory }, index) => {
          const to = {
            ...(cpuRequest !== undefined && { cpuRequest }),
            ...(memory !== undefined && { memoryRequest: memory * MIB }),
          };
          return pod(`${index}`, [{ container: 'app', to }], { running, ...(isKilled && { lastTermination }) });
        });
        const advice = [
          {
            container: 'app',
            current: before[0]?.size ?? {},
            cpu: { isDue: advised.cpu !== undefined, request: advised.cpu, notes: [] },
            memory: {
              isDue: advised.memory !== undefined,
              request: advised.memory === undefined ? undefined : advised.memory * MIB,
              notes: [],
            },
          },
        ] as unknown as readonly SizedAdvice[];
        const { asked, written } = await look({ ongoing: [] }, { workload, advice }, live);
        for (const [name, changes] of asked) {
          const index = Number(name);
          expect(some[index]).toMatchObject({ isKilled: true, running: true });
          const had = live[index]?.sizing.containers[0]?.size.memoryRequest ?? 0;
          expect(changes).toEqual([{ container: 'app', to: { memoryRequest: expect.any(Number) } }]);
          expect((changes as readonly SizeChange[])[0]?.to.memoryRequest).toBeGreaterThan(had);
        }
        // In force is at most what is due of memory, and only where some pod shows that less is too little.
        const isShown = some.some(({ isKilled, memory = 128 }) => isKilled && memory === 128);
        const isRaise = (advised.memory ?? 0) > 128;
        expect(written).toEqual(
          isShown && isRaise
            ? [JSON.stringify({ app: { memoryRequest: [128 * MIB, (advised.memory ?? 0) * MIB] } })]
            : [],
        );
      }),
      { numRuns: 200 },
    );
  });

  test('outside the window of the policy nothing is in force for those to come either', async () => {
    const live = [pod('old', []), pod('new', [], dead)];
    const { result, written } = await look({ ongoing: [] }, { workload, advice: moreOfBoth }, live, closed);
    expect(written).toEqual([]);
    expect(result).toMatchObject({ status: 'Pending', reason: 'OutsideUpdateWindow' });
  });

  test.each<[string, Partial<WorkloadMemory>, unknown]>([
    ['what is due waits', {}, []],
    ['what did harm is put back all the same', harmed, putBack],
  ])('%s', async (_, memory, expected) => {
    const { result, asked } = await look(memory, { workload, advice: more });
    expect(result).toMatchObject({ status: 'Pending', reason: 'TemplateRollout' });
    expect(asked).toEqual(expected);
  });

  test('a first pod that was watched long enough is judged each minute, though nothing is due: somebody may have paused it for days', async () => {
    const { result } = await look({}, { workload });
    expect(result).toMatchObject({ status: 'Pending', reason: 'TemplateRollout', againAfterMillis: 60_000 });
    expect((await look(harmed, { workload })).asked).toEqual(putBack);
  });
});

test('a raise that reached the first pod late spreads once, and is not begun anew', async () => {
  const moreMemory = [{ container: 'app', to: { memoryRequest: 256 * MIB } }];
  const moreCpu = [{ container: 'app', to: { cpuRequest: 400 } }];
  const both = [{ container: 'app', to: { ...moreCpu[0]?.to, ...moreMemory[0]?.to } }];
  const watched = watchChange(both, before, [], NOON - 90_000);
  const canary = { uid: 'first', name: 'first', at: NOON - 90_000 };
  const ongoing = [{ ...watched, method: 'InPlace', phase: 'canary', canary, throttling: nothingSeen() }] as const;
  const live = [pod('first', both), pod('other', [])];
  const { asked, written, made, memory } = await look({ ongoing }, { advice: moreOfBoth }, live);
  expect(made).toEqual([both]);
  expect(written).toHaveLength(1);
  expect(asked).toEqual([['other', both, false]]);
  expect(memory.ongoing).toMatchObject([{ phase: 'spread', changes: both }]);
});

describe('where no pod runs that could be asked', () => {
  const killed = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - 5_000 };
  const dead = { running: false, ready: false, restartCount: 3 };
  const none =
    /^Deployment shop\/web cannot be resized in place \(its containers end again and again, and none runs now\)/;

  test('those to come have more of what one was killed for, and which to delete is told', async () => {
    const live = [pod('first', [], { ...dead, lastTermination: killed }), pod('other', [], dead)];
    const { result, asked, written } = await look({ ongoing: [] }, { advice: moreOfBoth }, live);
    expect(asked).toEqual([]);
    expect(written).toEqual([JSON.stringify({ app: { memoryRequest: [128 * MIB, 256 * MIB] } })]);
    expect(result).toMatchObject({ status: 'Skipped', reason: 'InPlaceResizeUnavailable', againAfterMillis: 5_000 });
    expect(result.message).toMatch(none);
    expect(result.message).toMatch(/; pod first ends before it can be resized: deleted, it is made anew with the size/);
  });

  test('nothing is given for another end, and that none can be asked is told', async () => {
    const { result, asked, written } = await look({ ongoing: [] }, { advice: moreOfBoth }, [pod('first', [], dead)]);
    expect([asked, written]).toEqual([[], []]);
    expect(result.message).toMatch(none);
    expect(result.message).not.toContain('; pod');
  });
});

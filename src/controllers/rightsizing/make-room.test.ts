import { describe, expect, test } from 'vitest';
import type { DriftedPod } from '../../decide/rightsizing/pod-drift.ts';
import type { ReasonName } from '../../lib/reasons.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { createMakeRoom } from './make-room.ts';
import { createRightsizingMemory } from './memory.ts';
import type { TriedEviction } from './pod-replacement.ts';
import type { AttemptOutcome } from './result.ts';
import type { RightsizingSettings } from './settings.ts';

const MINUTE = 60_000;
const more = [{ container: 'app', to: { cpuRequest: 900 } }];
const pod = (name: string) => {
  const record = aSizedPod(aReplicaSet(aDeployment()), name, {}, { uid: name });
  return { pod: record, sizing: record.sizing };
};
const cramped = (...names: readonly string[]) => names.map((name) => ({ pod: pod(name), changes: more }));

interface Given {
  readonly kind?: string;
  readonly updates?: { readonly allowRecreate: boolean; readonly evictToResize: boolean };
  readonly sizesNewPods?: boolean;
  readonly lacking?: readonly string[];
  readonly attempt?: AttemptOutcome;
}

function scene(given: Given = {}) {
  const { updates = { allowRecreate: true, evictToResize: true }, sizesNewPods = true, lacking = [] } = given;
  const clock = createVirtualClock(NOON);
  const asked: { readonly pods: readonly string[]; readonly isTrial: boolean }[] = [];
  const workload = aSizedWorkload({ kind: given.kind ?? 'Deployment' });
  const { spec, ...policy } = validPolicy();
  const context = {
    advised: { workload },
    policy: { ...policy, spec: { ...spec, updates: { ...spec.updates, ...updates } } },
    memory: createRightsizingMemory().of('u'),
    live: [],
  } as unknown as ApplyContext;
  const answer = async (drifted: readonly DriftedPod[], isTrial: boolean): Promise<TriedEviction | undefined> => {
    asked.push({ pods: drifted.map((each) => each.pod.pod.name), isTrial });
    const [first] = drifted;
    if (first === undefined) return undefined;
    const decision = { pod: { name: first.pod.pod.name }, why: { summary: 'more' } } as TriedEviction['decision'];
    return { decision, attempt: given.attempt ?? { kind: 'asked', tookFrom: [] } };
  };
  const makeRoom = createMakeRoom({
    clock,
    sizesNewPods: () => sizesNewPods,
    settings: () => ({ deferredMillis: 5 * MINUTE }) as RightsizingSettings,
    actuator: { lacksRoom: (uid) => lacking.includes(uid) },
    replacement: {
      judgeLast: () => {},
      evictOne: (_, drifted) => answer(drifted, false),
      tryOne: (_, drifted) => answer(drifted, true),
    },
  });
  return { clock, asked, context, makeRoom };
}

describe('pods whose nodes have no room', () => {
  test('are evicted once that has lasted, those it has lasted for', async () => {
    const { clock, asked, context, makeRoom } = scene();
    expect(await makeRoom.evictOne(context, cramped('a'))).toBeUndefined();
    await clock.advance(4 * MINUTE);
    expect(await makeRoom.evictOne(context, cramped('a', 'b'))).toBeUndefined();
    await clock.advance(MINUTE);
    expect(await makeRoom.evictOne(context, cramped('a', 'b'))).toMatchObject({
      status: 'Pending',
      reason: 'EvictedToResize',
    });
    expect(asked).toEqual([{ pods: ['a'], isTrial: false }]);
  });

  test('that found room in between begin anew', async () => {
    const { clock, asked, context, makeRoom } = scene();
    await makeRoom.evictOne(context, cramped('a'));
    await clock.advance(4 * MINUTE);
    await makeRoom.evictOne(context, []);
    await makeRoom.evictOne(context, cramped('a'));
    await clock.advance(4 * MINUTE);
    await makeRoom.evictOne(context, cramped('a'));
    expect(asked).toEqual([]);
  });

  test('that were deferred to the end have waited already', async () => {
    const { asked, context, makeRoom } = scene({ lacking: ['a'] });
    await makeRoom.evictOne(context, cramped('a', 'b'));
    expect(asked).toEqual([{ pods: ['a'], isTrial: false }]);
  });

  test.each<[string, Given]>([
    ['the policy does not ask for it', { updates: { allowRecreate: true, evictToResize: false } }],
    ['new pods are not allowed', { updates: { allowRecreate: false, evictToResize: true } }],
    ['new pods are not sized at admission', { sizesNewPods: false }],
    ['it is a DaemonSet', { kind: 'DaemonSet' }],
  ])('stay where %s', async (_, given) => {
    const { asked, context, makeRoom } = scene({ ...given, lacking: ['a'] });
    expect(await makeRoom.evictOne(context, cramped('a'))).toBeUndefined();
    expect(await makeRoom.isTime(context, more, [pod('a')], 'NodeHasNoRoom')).toBe(false);
    expect(asked).toEqual([]);
  });

  test('stay until admission reads the size that is in force', async () => {
    const { asked, context, makeRoom } = scene({ lacking: ['a'] });
    context.memory.annotations.note({}, NOON);
    await makeRoom.evictOne(context, cramped('a'));
    expect(asked).toEqual([]);
  });

  test('what forbids the eviction is told', async () => {
    const block = { rule: 'r', reason: 'BlockedByPdb', message: 'm', advice: 'a', retryAfterMillis: 9 } as const;
    const { context, makeRoom } = scene({ lacking: ['a'], attempt: { kind: 'blocked', block } });
    expect(await makeRoom.evictOne(context, cramped('a'))).toMatchObject({ reason: 'BlockedByPdb' });
  });
});

describe('what no pod has room for', () => {
  test('is given to new ones once that has lasted and one may go', async () => {
    const { clock, asked, context, makeRoom } = scene();
    const ask = (reason?: ReasonName) => makeRoom.isTime(context, more, [pod('a'), pod('b')], reason);
    expect(await ask('NodeHasNoRoom')).toBe(false);
    await clock.advance(5 * MINUTE);
    expect(await ask('NodeHasNoRoom')).toBe(true);
    expect(asked).toEqual([{ pods: ['a', 'b'], isTrial: true }]);
    expect(await ask(undefined)).toBe(false);
    expect(await ask('NodeHasNoRoom')).toBe(false);
  });

  test.each(['ChangePace', undefined] as const)('waits where it is %s that keeps it', async (reason) => {
    const { clock, context, makeRoom } = scene();
    await makeRoom.isTime(context, more, [pod('a')], reason);
    await clock.advance(10 * MINUTE);
    expect(await makeRoom.isTime(context, more, [pod('a')], reason)).toBe(false);
  });

  test.each<[string, readonly string[], readonly string[], ReasonName | undefined, boolean]>([
    ['all that were tried were deferred to the end', ['a', 'b'], ['a', 'b'], 'ChangeBackoff', true],
    ['one of them was not', ['a'], ['a', 'b'], 'ChangeBackoff', false],
    ['none of them was', [], ['a', 'b'], 'ChangeBackoff', false],
    ['nothing keeps it', ['a', 'b'], ['a', 'b'], undefined, false],
    ['no pod was tried', ['a', 'b'], [], 'ChangeBackoff', false],
  ])('has been waited for where %s', async (_, lacking, tried, reason, expected) => {
    const { context, makeRoom } = scene({ lacking });
    expect(
      await makeRoom.isTime(
        context,
        more,
        tried.map((name) => pod(name)),
        reason,
      ),
    ).toBe(expected);
  });

  test('waits where no pod may go: nothing is promised to new ones', async () => {
    const block = { rule: 'r', reason: 'NoRoomOnSide', message: 'm', advice: 'a', retryAfterMillis: 9 } as const;
    const { clock, context, makeRoom } = scene({ attempt: { kind: 'blocked', block } });
    await makeRoom.isTime(context, more, [pod('a')], 'NodeHasNoRoom');
    await clock.advance(5 * MINUTE);
    expect(await makeRoom.isTime(context, more, [pod('a')], 'NodeHasNoRoom')).toBe(false);
  });
});

import { describe, expect, test } from 'vitest';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { watchChange } from '../../decide/rightsizing/watched-change.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { applyChanges } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { NOON } from '../../model/testing/records.ts';
import { aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import { before, harmed, lessCpu, look, moreOfBoth, pod, putBack } from '../testing/in-place-look.ts';
import { nothingSeen } from './throttling.ts';
import type { OngoingChange } from './watches.ts';

const HOUR = 3_600_000;

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
  const { asked, ongoing } = await look({ ongoing: [] }, { advice: memoryOnly }, live);
  expect(asked).toEqual([]);
  expect(ongoing).toMatchObject([{ phase: 'canary', canary: { uid: 'given' }, changes: moreMemory }]);
});

test('a raise that reached the first pod late spreads once, and is not begun anew', async () => {
  const moreMemory = [{ container: 'app', to: { memoryRequest: 256 * MIB } }];
  const moreCpu = [{ container: 'app', to: { cpuRequest: 400 } }];
  const both = [{ container: 'app', to: { ...moreCpu[0]?.to, ...moreMemory[0]?.to } }];
  const watched = watchChange(both, before, [], NOON - 90_000);
  const canary = { uid: 'first', name: 'first', at: NOON - 90_000 };
  const ongoing = [{ ...watched, method: 'InPlace', phase: 'canary', canary, throttling: nothingSeen() }] as const;
  const live = [pod('first', both), pod('other', [])];
  const { asked, written, made, ongoing: left } = await look({ ongoing }, { advice: moreOfBoth }, live);
  expect(made).toEqual([both]);
  expect(written).toHaveLength(1);
  expect(asked).toEqual([['other', both, false]]);
  expect(left).toMatchObject([{ phase: 'spread', changes: both }]);
});

test('where memory limits are not lowered in place, requests are all the same', async () => {
  const limited = [{ container: 'app', to: { memoryLimit: 256 * MIB } }];
  const inForce = applyChanges(before, limited);
  const memory = { isDue: true, request: 64 * MIB, limit: 128 * MIB, notes: [] };
  const advice = [{ ...moreOfBoth[0], current: inForce[0]?.size, memory }] as unknown as readonly SizedAdvice[];
  const askedWhere = async (isKept: boolean) => {
    const actuator = { keepsMemoryLimits: () => isKept };
    const { asked } = await look(
      { ongoing: [] },
      { advice, inForce },
      [pod('first', limited), pod('other', limited)],
      {},
      actuator,
    );
    return asked[0]?.[1];
  };
  const requests = { cpuRequest: 400, memoryRequest: 64 * MIB };
  expect(await askedWhere(false)).toEqual([{ container: 'app', to: { ...requests, memoryLimit: 128 * MIB } }]);
  expect(await askedWhere(true)).toEqual([{ container: 'app', to: requests }]);
});

describe('less that restarts one pod after the other', () => {
  const lessMemory = [{ container: 'app', to: { memoryRequest: 64 * MIB } }];
  const begun = (agoMillis: number, memoryRestart: 'RestartContainer' | 'NotRequired' = 'RestartContainer') => {
    const spec = before.map((each) => ({ ...each, memoryRestart }));
    const watched = watchChange(lessMemory, spec, [], NOON - agoMillis, true);
    return { ...watched, method: 'InPlace', phase: 'spread', canary: undefined, throttling: nothingSeen() } as const;
  };
  const inForce = applyChanges(before, lessMemory);
  const isWatched = async (change: OngoingChange, live: readonly SizedPod[]) =>
    (await look({ ongoing: [change] }, { inForce }, live)).ongoing.length > 0;
  const [all, some] = [
    [pod('first', lessMemory), pod('other', lessMemory)],
    [pod('first', lessMemory), pod('other', [])],
  ];

  test('is watched for as long after the last of them as after the first, but not for ever', async () => {
    expect([await isWatched(begun(2 * HOUR), some), await isWatched(begun(2 * HOUR), all)]).toEqual([true, false]);
    expect(await isWatched({ ...begun(2 * HOUR), spreadingUntil: NOON - 60_000 }, all)).toBe(true);
    expect(await isWatched(begun(24 * HOUR), some)).toBe(false);
  });

  test('where it restarts none, all have it at once', async () => {
    expect(await isWatched(begun(2 * HOUR, 'NotRequired'), some)).toBe(false);
  });
});

describe('where answers took half a minute since the pods were looked at', () => {
  const late = () => createVirtualClock(NOON + 30_000);
  const lessForAll = (agoMillis: number) =>
    ({
      ...watchChange(lessCpu, before, [], NOON - agoMillis),
      method: 'InPlace',
      phase: 'spread',
      canary: undefined,
      throttling: nothingSeen(),
    }) as const;
  const inForce = applyChanges(before, lessCpu);
  const all = [pod('first', lessCpu), pod('other', lessCpu)];

  test.each([
    [1_800_000 - 1, 1],
    [1_800_000, 0],
  ])('less that was watched for %i ms by then is watched as if they had come at once', async (agoMillis, watched) => {
    const { ongoing } = await look({ ongoing: [lessForAll(agoMillis)] }, { inForce }, all, {}, {}, late());
    expect(ongoing).toHaveLength(watched);
  });

  test.each([
    [180_000 - 1, []],
    [180_000, ['spread']],
  ])('a first pod that was seen to be well for %i ms proves what that proves', async (agoMillis, spread) => {
    const canary = { uid: 'first', name: 'first', at: NOON - agoMillis };
    const ongoing = [{ ...lessForAll(agoMillis), phase: 'canary', canary }] as const;
    const advice = [
      { ...moreOfBoth[0], cpu: { isDue: true, request: 100, notes: [] }, memory: { isDue: false, notes: [] } },
    ] as unknown as readonly SizedAdvice[];
    const live = [pod('first', lessCpu), pod('other', [])];
    const { ongoing: left } = await look({ ongoing }, { advice }, live, {}, {}, late());
    expect(left.map(({ phase }) => phase).filter((phase) => phase === 'spread')).toEqual(spread);
    expect(left).toHaveLength(1);
  });
});

test.each([
  [600_000 - 1, 'TemplateRollout'],
  [600_000, 'ChangeReverted'],
])('a pod seen to start for %i ms with a lower CPU limit than its template has: %s', async (agoMillis, reason) => {
  const limit = (cpuLimit: number) => [{ container: 'app', to: { cpuLimit } }];
  const workload = aSizedWorkload({ containers: applyChanges(before, limit(400)), isRollingOut: true });
  const { pod: record, sizing } = pod('new', limit(200), { ready: false }, NOON - agoMillis);
  const live = [pod('old', limit(200)), { pod: { ...record, ready: false, readyChangedAt: NOON - agoMillis }, sizing }];
  const advised = { workload, inForce: applyChanges(before, limit(200)), advice: moreOfBoth };
  const late = createVirtualClock(NOON + 300);
  expect((await look({ ongoing: [] }, advised, live, {}, {}, late)).result.reason).toBe(reason);
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

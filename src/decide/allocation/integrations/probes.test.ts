import { describe, expect, test } from 'vitest';
import type { AllocationPod } from '../allocation-pod.ts';
import { T0, testPod } from '../testing/pods.ts';
import { type Held, judgeProbes, type ProbeMemory } from './probes.ts';

const GRACE = 45_000;
const MINUTE = 60_000;
const status = (change: Partial<AllocationPod['statuses'][number]>): Partial<AllocationPod> => ({
  statuses: testPod('a', { request: 400 }).statuses.map((each) => ({ ...each, ...change })),
});
const judge = (
  change: Partial<AllocationPod>,
  measured: { usage?: number | undefined; throttledRatio?: number; held?: Held; first?: number } = {},
  previous?: ProbeMemory,
  now = T0,
) =>
  judgeProbes(
    testPod('a', { request: 400 }, change),
    {
      held: measured.held ?? { share: 400, limit: undefined },
      first: measured.first ?? 400,
      usage: 'usage' in measured ? measured.usage : 200,
      throttledRatio: measured.throttledRatio,
    },
    previous,
    GRACE,
    now,
  );
const layersOf = (judgement: ReturnType<typeof judge>): string[] => judgement.bounds.map(({ layer }) => layer);

describe('who gives nothing up', () => {
  test.each<[string, Partial<AllocationPod>, readonly string[]]>([
    ['ready for long: nobody', {}, []],
    ['started a moment ago', { startedAt: T0 - 10_000, readyChangedAt: T0 - 5000 }, ['grace']],
    [
      'starting and not ready',
      { startedAt: T0 - 10_000, ready: false, readyChangedAt: T0 - 10_000 },
      ['grace', 'readiness'],
    ],
    ['not ready', { ready: false, readyChangedAt: T0 - 5 * MINUTE }, ['readiness']],
    ['ready for the first time, half a minute ago', { startedAt: T0 - 50_000, readyChangedAt: T0 - 30_000 }, []],
    ['as of two hours to come: the clock was set back since', { startedAt: T0 + 120 * MINUTE }, []],
    ['ready as of two hours to come', { readyChangedAt: T0 + 120 * MINUTE }, []],
    [
      'restarted as of two hours to come',
      status({ restartCount: 1, lastTermination: { reason: 'Error', exitCode: 1, finishedAt: T0 + 120 * MINUTE } }),
      [],
    ],
    ['started as of three seconds to come: clocks are off by so much', { startedAt: T0 + 3000 }, ['grace']],
    ['ready again for half a minute', { readyChangedAt: T0 - 30_000 }, ['readiness']],
    ['a container waits', status({ running: false }), ['readiness']],
    [
      'restarted two minutes ago',
      status({ restartCount: 1, lastTermination: { reason: 'Error', exitCode: 1, finishedAt: T0 - 2 * MINUTE } }),
      ['readiness'],
    ],
    [
      'restarted an hour ago',
      status({ restartCount: 1, lastTermination: { reason: 'Error', exitCode: 1, finishedAt: T0 - 60 * MINUTE } }),
      [],
    ],
  ])('integration 9: %s', (_name, change, layers) => {
    const judgement = judge(change);
    expect(layersOf(judgement)).toEqual(layers);
    for (const bound of judgement.bounds) expect(bound).toMatchObject({ min: 400 });
  });
});

describe('who is coming up, and gets no ceiling', () => {
  test.each<[string, Partial<AllocationPod>, boolean]>([
    ['ready for long', {}, false],
    ['started a moment ago', { startedAt: T0 - 10_000, readyChangedAt: T0 - 5000 }, true],
    ['not ready yet', { startedAt: T0 - 5 * MINUTE, ready: false, readyChangedAt: T0 - 5 * MINUTE }, true],
    ['not ready for over ten minutes', { ready: false, readyChangedAt: T0 - 11 * MINUTE }, false],
    ['restarted two minutes ago, and well', status({ restartCount: 1 }), false],
  ])('integration 9: %s', (_name, change, isComingUp) => {
    expect(judge(change).isComingUp).toBe(isComingUp);
  });
});

describe('unready and short of CPU', () => {
  test('integration 9: half as much again', () => {
    expect(judge({ ready: false }, { throttledRatio: 0.06 }).boost).toBe(1.5);
  });

  test('integration 9: not where it is not throttled, and not where it is ready', () => {
    expect(judge({ ready: false }, { throttledRatio: 0.04 }).boost).toBe(1);
    expect(judge({ readyChangedAt: T0 - 10_000 }, { throttledRatio: 0.9 }).boost).toBe(1);
  });
});

describe('dead pods must not squat', () => {
  const dead = { ready: false, readyChangedAt: T0 - 11 * MINUTE };

  test('integration 9: unready for long and idle: let go of', () => {
    expect(layersOf(judge(dead, { usage: 30 }))).toEqual([]);
  });

  test('integration 9: nor is it alive again because it has less now', () => {
    expect(layersOf(judge(dead, { usage: 30, held: { share: 200, limit: undefined } }))).toEqual([]);
    expect(layersOf(judge(dead, { usage: 30, held: { share: 400, limit: undefined }, first: 200 }))).toEqual([]);
  });

  test.each<[string, Partial<AllocationPod>, number | undefined]>([
    ['it works', dead, 50],
    ['nobody measured it', dead, undefined],
    ['not for long enough', { ready: false, readyChangedAt: T0 - 9 * MINUTE }, 0],
  ])('integration 9: not where %s', (_name, change, usage) => {
    expect(layersOf(judge(change, { usage }))).toEqual(['readiness']);
  });
});

describe('restarts between ticks', () => {
  test('integration 9: a count that rose holds for five minutes from when it was seen', () => {
    const { memory } = judge(status({ restartCount: 3 }), {}, { restarts: 2, restartedAt: undefined });
    expect(memory).toMatchObject({ restarts: 3, restartedAt: T0 });
    expect(layersOf(judge(status({ restartCount: 3 }), {}, { restarts: 3, restartedAt: T0 - 4 * MINUTE }))).toEqual([
      'readiness',
    ]);
    expect(layersOf(judge(status({ restartCount: 3 }), {}, { restarts: 3, restartedAt: T0 - 6 * MINUTE }))).toEqual([]);
  });
});

describe('what it lost just before its probes failed', () => {
  const calm: ProbeMemory = { restarts: 0, restartedAt: undefined, held: { share: 900, limit: undefined } };
  const held = { share: 400, limit: undefined };
  const cut = judge({}, { held }, calm).memory;
  const failedAt = (at: number): Partial<AllocationPod> => ({ ready: false, readyChangedAt: at });
  const least = (judgement: ReturnType<typeof judge>): number =>
    Math.max(0, ...judgement.bounds.map(({ min = 0 }) => min));

  test('integration 9: a decrease alone is remembered and bounds nothing', () => {
    expect(cut.cut).toEqual({ from: 900, at: T0 });
    expect(judge({}, { held }, calm).bounds).toEqual([]);
  });

  test.each<[string, Partial<AllocationPod>, number]>([
    ['unready half a minute later', failedAt(T0 + 30_000), 30_000],
    ['unready, told a moment before the decrease was seen', failedAt(T0 - 1000), 1000],
    ['unready, whenever its kubelet says', failedAt(T0 - 60 * MINUTE), 10_000],
    ['restarted', status({ restartCount: 1 }), 50_000],
  ])('integration 9: %s: it gets it back at once, for ten minutes', (_name, change, after) => {
    const harmed = judge(change, { held }, cut, T0 + after);
    expect(harmed.bounds).toContainEqual({ layer: 'readiness', reason: 'RolledBack', min: 900 });
    expect(harmed.memory).toMatchObject({ rollback: { to: 900, until: T0 + after + 10 * MINUTE } });
    const back: Held = { share: 900, limit: undefined };
    const healthy = { ...change, ready: true, readyChangedAt: T0 - 60 * MINUTE };
    const later = (millis: number) => judge(healthy, { held: back }, harmed.memory, T0 + millis);
    expect(least(later(after + 9 * MINUTE))).toBe(900);
    expect(later(after + 11 * MINUTE).bounds).toEqual([]);
  });

  test.each<[string, Partial<AllocationPod>, ProbeMemory, number]>([
    ['unready before the decrease', failedAt(T0 - 5000), cut, 2000],
    ['unready two minutes later', failedAt(T0 + 2 * MINUTE), cut, 2 * MINUTE],
    ['nothing was taken', failedAt(T0 + 1000), { ...calm, held }, 2000],
    [
      'what was taken came back',
      failedAt(T0 + 5000),
      judge({}, { held: { share: 900, limit: undefined } }, cut, T0 + 4000).memory,
      6000,
    ],
  ])('integration 9: not to blame: %s', (_name, change, previous, after) => {
    const judgement = judge(change, { held }, { ...previous, held, wasReady: false }, T0 + after);
    expect(judgement.memory.rollback).toBeUndefined();
    expect(least(judgement)).toBe(400);
  });

  test('integration 9: two decreases in a row are taken back both', () => {
    const twice = judge({}, { held: { share: 300, limit: undefined } }, cut, T0 + 10_000).memory;
    expect(twice.cut).toEqual({ from: 900, at: T0 + 10_000 });
  });

  test('integration 9: a first ceiling is a decrease, too', () => {
    const limited = judge({}, { held: { share: 900, limit: 950 } }, calm).memory;
    expect(limited.cut).toEqual({ from: 900, at: T0 });
    expect(judge({}, { held: { share: 900, limit: 990 } }, limited, T0 + MINUTE).memory.cut).toBeUndefined();
  });
});

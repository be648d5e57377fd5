import { describe, expect, test } from 'vitest';
import type { AllocationPod } from '../allocation-pod.ts';
import { T0, testPod } from '../testing/pods.ts';
import { judgeProbes, type ProbeMemory } from './probes.ts';

const GRACE = 45_000;
const MINUTE = 60_000;
const status = (change: Partial<AllocationPod['statuses'][number]>): Partial<AllocationPod> => ({
  statuses: testPod('a', { request: 400 }).statuses.map((each) => ({ ...each, ...change })),
});
const judge = (
  change: Partial<AllocationPod>,
  measured: { usage?: number | undefined; throttledRatio?: number } = {},
  previous?: ProbeMemory,
) =>
  judgeProbes(
    testPod('a', { request: 400 }, change),
    { current: 400, usage: 'usage' in measured ? measured.usage : 200, throttledRatio: measured.throttledRatio },
    previous,
    GRACE,
    T0,
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
    expect(memory).toEqual({ restarts: 3, restartedAt: T0 });
    expect(layersOf(judge(status({ restartCount: 3 }), {}, { restarts: 3, restartedAt: T0 - 4 * MINUTE }))).toEqual([
      'readiness',
    ]);
    expect(layersOf(judge(status({ restartCount: 3 }), {}, { restarts: 3, restartedAt: T0 - 6 * MINUTE }))).toEqual([]);
  });
});

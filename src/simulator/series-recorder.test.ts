import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { seriesMeanings, seriesNames } from './series.ts';
import { MAX_POINTS, recordSeries, type SeriesReading } from './series-recorder.ts';

const MINUTE = 60_000;

interface Moment {
  readonly level?: number;
  /** Value times hours. */
  readonly integral?: number;
  readonly count?: number;
  readonly cpuUsed?: number | undefined;
}

function reading({ level = 0, integral = 0, count = 0, cpuUsed }: Moment): SeriesReading {
  const levels = {
    replicas: level,
    readySpot: level,
    readyOnDemand: level,
    cpuAllocatable: level,
    cpuRequested: level,
  };
  const [three, one] = [{ unavailable: integral, costPerHour: integral }, { costPerHourOnDemand: integral }];
  return {
    levels: { ...levels, cpuUsed },
    integrals: { ...three, ...one },
    counts: {
      evictions: count,
      fallbacks: count,
      resizes: count,
      retemplates: count,
      interruptions: count,
      nodesLost: count,
      oomKills: count,
      rollouts: count,
    },
  };
}

/** Lets a run of this length pass; what is read is a function of the time since it began. */
async function record(durationMillis: number, at: (millis: number) => Moment, begin = 1000) {
  const clock = createVirtualClock(begin);
  const recorder = recordSeries({ clock, durationMillis, read: () => reading(at(clock.now() - begin)) });
  await clock.advance(durationMillis);
  const series = recorder.end();
  expect(clock.pendingTimers()).toBe(0);
  return series;
}

describe('a recorded series', () => {
  test('has a bounded number of points that end with the run, for any length', async () => {
    const durations = fc.oneof(
      fc.integer({ min: 1, max: 500_000 }),
      fc.integer({ min: 1, max: 60 * 24 * 60 * MINUTE }),
    );
    await fc.assert(
      fc.asyncProperty(durations, fc.integer({ min: 1, max: 9 }), async (duration, perHour) => {
        const moment = (millis: number): Moment => ({
          level: millis,
          integral: (perHour * millis) / (60 * MINUTE),
          count: Math.floor(millis / 700),
        });
        const series = await record(duration, moment);
        const { endMillis } = series;
        expect(endMillis.length).toBeLessThanOrEqual(MAX_POINTS);
        if (duration >= 200_000) expect(endMillis.length).toBeGreaterThanOrEqual(200);
        expect(endMillis.at(-1)).toBe(duration);
        expect(endMillis.every((end, index) => end > (endMillis[index - 1] ?? 0))).toBe(true);
        for (const name of seriesNames) if (name !== 'cpuUsed') expect(series[name].length).toBe(endMillis.length);
        // Levels are of the end, means of the span, and counts are lost nowhere.
        expect(series.replicas).toEqual(endMillis);
        for (const mean of series.unavailable) expect(mean).toBeCloseTo(perHour, 3);
        expect(series.evictions.reduce((sum, each) => sum + each, 0)).toBe(Math.floor(duration / 700));
        expect(await record(duration, moment)).toEqual(series);
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    [500, 1],
    [90_000, 90],
    [10 * MINUTE, 300],
    [24 * 60 * MINUTE, 400],
    [7 * 24 * 60 * MINUTE, 400],
  ])('of %i ms has %i points', async (duration, points) => {
    expect((await record(duration, () => ({}))).endMillis.length).toBe(points);
  });

  test('begins with what was there already: neither its cost nor its counts are of the run', async () => {
    const series = await record(2000, () => ({ integral: 50, count: 9 }));
    expect(series).toMatchObject({ costPerHour: [0, 0], evictions: [0, 0], endMillis: [1000, 2000] });
  });

  test('has CPU in use only where it is known at some time', async () => {
    expect(await record(3000, () => ({}))).not.toHaveProperty('cpuUsed');
    const late = await record(3000, (millis) => ({ cpuUsed: millis < 2000 ? undefined : 40.123456 }));
    expect(late.cpuUsed).toEqual([0, 40.1235, 40.1235]);
  });

  test('that is ended early has what was until then', async () => {
    const clock = createVirtualClock(0);
    const recorder = recordSeries({ clock, durationMillis: 60 * MINUTE, read: () => reading({ level: clock.now() }) });
    await clock.advance(10_000);
    expect(recorder.end()).toMatchObject({ endMillis: [9000, 10_000], replicas: [9000, 10_000] });
  });
});

test('every series says what it means', () => {
  for (const { meaning } of Object.values(seriesMeanings)) expect(meaning).toMatch(/^\S.*[^.]$/);
});

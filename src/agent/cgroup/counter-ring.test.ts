import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCounterRing } from './counter-ring.ts';
import type { CpuCounters } from './counters.ts';

const at = (usageMicros: number, more: Partial<CpuCounters> = {}): CpuCounters => ({
  usageMicros,
  periods: 0,
  throttledPeriods: 0,
  throttledMicros: 0,
  pressureMicros: undefined,
  ...more,
});

/** One sample a second of a group that uses so many millicores in each. */
function filled(capacity: number, millicores: readonly number[]) {
  const ring = createCounterRing(capacity);
  let used = 0;
  ring.push(0, at(0));
  millicores.forEach((rate, index) => {
    used += rate * 1000;
    ring.push((index + 1) * 1000, at(used));
  });
  return ring;
}

describe('windows', () => {
  test('a rate needs two samples', () => {
    const ring = createCounterRing(10);
    expect(ring.window(1000)).toBeUndefined();
    ring.push(0, at(5_000_000));
    expect(ring.window(1000)).toBeUndefined();
    ring.push(1000, at(5_250_000));
    expect(ring.window(1000)).toMatchObject({ spanMillis: 1000, usageMillicores: 250 });
  });

  test('each reader has its own window of one ring', () => {
    const ring = filled(20, [100, 100, 100, 100, 900, 900]);
    expect(ring.window(2000)?.usageMillicores).toBe(900);
    expect(ring.window(4000)?.usageMillicores).toBe(500);
    expect(ring.window(2000)?.usageMillicores).toBe(900);
  });

  test('a ring that holds less than was asked for answers over what it has, and says so', () => {
    expect(filled(5, [1, 2, 3, 4, 5, 6, 7, 8]).window(60_000)).toMatchObject({
      spanMillis: 4000,
      usageMillicores: 6.5,
    });
  });

  test('a ring that is to keep more keeps what it has', () => {
    const ring = filled(4, [1, 2, 3, 4, 5, 6]);
    ring.grow(6);
    ring.push(7000, at(28_000));
    ring.push(8000, at(36_000));
    expect(ring.window(60_000)).toMatchObject({ spanMillis: 5000, usageMillicores: 6 });
    ring.grow(3);
    ring.push(9000, at(45_000));
    expect(ring.window(60_000)).toMatchObject({ spanMillis: 5000, usageMillicores: 7 });
    const young = filled(4, [100]);
    young.grow(8);
    young.push(2000, at(300_000));
    expect(young.window(60_000)).toMatchObject({ spanMillis: 2000, usageMillicores: 150 });
  });

  test('after a pause the window is as long as the pause, not empty', () => {
    const ring = filled(10, [100]);
    ring.push(31_000, at(3_100_000));
    expect(ring.window(2000)).toMatchObject({ spanMillis: 30_000, usageMillicores: 100 });
  });

  test('late timers: the sample nearest to the span is taken', () => {
    const ring = createCounterRing(10);
    for (const time of [0, 1004, 2009, 3013]) ring.push(time, at(time * 100));
    expect(ring.window(2000)?.spanMillis).toBe(2009);
    expect(ring.window(1000)?.spanMillis).toBe(1004);
  });

  test('two samples of one instant, or an earlier one, count once', () => {
    const ring = filled(10, [100]);
    ring.push(1000, at(900_000));
    ring.push(500, at(900_000));
    expect(ring.window(1000)?.usageMillicores).toBe(100);
  });
});

describe('throttling and pressure', () => {
  test('the ratio is of periods, not of time: time is summed over CPUs', () => {
    const ring = createCounterRing(4);
    ring.push(0, at(0));
    ring.push(5000, at(2_500_000, { periods: 50, throttledPeriods: 48, throttledMicros: 5_900_000 }));
    expect(ring.window(5000)).toMatchObject({ throttledRatio: 0.96, throttledMillis: 5900, periods: 50 });
  });

  test('allocation bug 1: throttled in every period far below its limit is a ratio of 1, whatever the usage', () => {
    const ring = createCounterRing(4);
    ring.push(0, at(0));
    ring.push(1000, at(120_000, { periods: 10, throttledPeriods: 10, throttledMicros: 200_000 }));
    expect(ring.window(1000)).toMatchObject({ usageMillicores: 120, throttledRatio: 1 });
  });

  test('allocation bug 16: throttling and the pressure it makes are told apart: both figures are there', () => {
    const ring = createCounterRing(4);
    ring.push(0, at(0, { pressureMicros: 0 }));
    ring.push(5000, at(2_500_000, { periods: 50, throttledPeriods: 50, pressureMicros: 2_900_000 }));
    expect(ring.window(5000)).toMatchObject({ throttledRatio: 1, pressureRatio: 0.58 });
  });

  test('without a period there is no ratio', () => {
    expect(filled(4, [500]).window(1000)).toMatchObject({ periods: 0, throttledRatio: undefined });
  });

  test('pressure is the stalled share of the span, and unknown where one of both samples lacks it', () => {
    const ring = createCounterRing(4);
    ring.push(0, at(0, { pressureMicros: 0 }));
    ring.push(1000, at(1, { pressureMicros: 650_000 }));
    expect(ring.window(1000)?.pressureRatio).toBe(0.65);
    ring.push(2000, at(2));
    expect(ring.window(1000)?.pressureRatio).toBeUndefined();
  });
});

describe('epochs', () => {
  test('counters that fall belong to a new group: what was before is dropped, no negative rate', () => {
    const ring = filled(10, [500, 500]);
    ring.push(3000, at(20_000));
    expect(ring.epoch).toBe(1);
    expect(ring.window(2000)).toBeUndefined();
    ring.push(4000, at(70_000));
    expect(ring.window(5000)).toMatchObject({ spanMillis: 1000, usageMillicores: 50 });
  });

  test.each(['periods', 'throttledPeriods', 'throttledMicros'] as const)('%s that fall are a new epoch too', (key) => {
    const ring = createCounterRing(4);
    ring.push(0, at(0, { [key]: 10 }));
    ring.push(1000, at(100, { [key]: 9 }));
    expect(ring.epoch).toBe(1);
  });

  test('a reset starts anew', () => {
    const ring = filled(10, [500, 500]);
    ring.reset();
    expect([ring.window(1000), ring.lastMillis]).toEqual([undefined, undefined]);
  });
});

test('for any counters and times every window is finite and not negative', () => {
  const sample = fc.tuple(
    fc.integer({ min: -10, max: 5000 }),
    fc.nat(1e9),
    fc.nat(1e5),
    fc.nat(1e5),
    fc.nat(1e9),
    fc.option(fc.nat(1e9)),
  );
  fc.assert(
    fc.property(
      fc.array(sample, { maxLength: 40 }),
      fc.integer({ min: 2, max: 8 }),
      fc.nat(20_000),
      (samples, capacity, span) => {
        const ring = createCounterRing(capacity);
        let now = 0;
        for (const [step, usageMicros, periods, throttledPeriods, throttledMicros, pressure] of samples) {
          now += step;
          ring.push(now, {
            usageMicros,
            periods,
            throttledPeriods,
            throttledMicros,
            pressureMicros: pressure ?? undefined,
          });
          const window = ring.window(span);
          if (window === undefined) continue;
          expect(window.spanMillis).toBeGreaterThan(0);
          for (const value of Object.values(window))
            expect(value === undefined || (Number.isFinite(value) && value >= 0)).toBe(true);
          expect(window.throttledRatio ?? 0).toBeLessThanOrEqual(1);
          expect(window.pressureRatio ?? 0).toBeLessThanOrEqual(1);
        }
      },
    ),
  );
});

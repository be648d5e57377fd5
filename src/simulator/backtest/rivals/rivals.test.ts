import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exactPercentile } from '../../../lib/exact-percentile.ts';
import type { Strategy } from '../strategy.ts';
import { gateChange } from './gate.ts';
import { createKrrCpu } from './krr-cpu.ts';
import { createKrrMemory } from './krr-memory.ts';
import { createMaxCpu } from './max-cpu.ts';
import { createOptipodCpu } from './optipod-cpu.ts';
import { createSampleWindow } from './sample-window.ts';
import { createVpaCpu } from './vpa-cpu.ts';
import { createVpaMemory, vpaMemoryLayout, vpaTarget } from './vpa-memory.ts';

const STEP = 300_000;
const DAY = 86_400_000;
const MIB = 1024 * 1024;
const feed = (strategy: Strategy, usages: readonly number[]): number => {
  for (const [index, usage] of usages.entries()) strategy.observe(usage, index * STEP, 0);
  return strategy.choose(undefined, usages.length * STEP);
};

describe('VPA-like', () => {
  // Targets seen in public reports: int(bucket start * 1.15). Report A#3078 shows the value of n = 23, counted from 0.
  test.each([
    [2, 23_574_999],
    [20, 380_258_472],
    [23, 476_450_463],
    [25, 548_861_636],
    [30, 764_046_746],
  ])('vpa %i: the memory target of that bucket', (bucket, target) => {
    const memory = createVpaMemory();
    memory.observe(0, vpaMemoryLayout.startOf(bucket) - 1, 0);
    expect(memory.choose(undefined, 0)).toBe(target);
    expect(vpaTarget(vpaMemoryLayout.startOf(bucket))).toBe(target);
  });

  test('vpa 31: the CPU target of an idle container is 11.5 millicores, shown as 12', () => {
    expect(feed(createVpaCpu(), [0, 0, 0])).toBe(12);
  });

  test('vpa 32: a day-old sample weighs half as much as a fresh one', () => {
    const strategy = createVpaCpu();
    for (let index = 0; index < 4; index++) strategy.observe(1000, 0, 0);
    for (let index = 0; index < 19; index++) strategy.observe(100, DAY, 0);
    // 4 halves of 21: a little more than a tenth, so the 90th percentile is still the old level; one more fresh sample and it is not.
    expect(strategy.choose(undefined, DAY)).toBeLessThan(130);
    strategy.observe(1000, DAY, 0);
    expect(strategy.choose(undefined, DAY)).toBeGreaterThan(1100);
  });

  test.each([
    ['vpa 33: 100 MiB more after a kill of a small one', 200 * MIB, 300 * MIB],
    ['vpa 34: a fifth more after a kill of a large one', 1000 * MIB, 1200 * MIB],
  ])('%s', (_name, limit, need) => {
    const memory = createVpaMemory();
    memory.observe(0, limit, 0);
    memory.noteOom(0, limit, STEP);
    const bucket = vpaMemoryLayout.indexOf(need);
    expect(memory.choose(undefined, STEP)).toBe(vpaTarget(vpaMemoryLayout.startOf(bucket + 1)));
  });

  test('vpa 35: a kill does not feed on the one before in the same day', () => {
    const memory = createVpaMemory();
    memory.observe(0, 1000 * MIB, 0);
    for (let kill = 0; kill < 5; kill++) memory.noteOom(0, 1000 * MIB, kill * STEP);
    const bucket = vpaMemoryLayout.indexOf(1200 * MIB);
    expect(memory.choose(undefined, 5 * STEP)).toBe(vpaTarget(vpaMemoryLayout.startOf(bucket + 1)));
  });

  test('vpa 36: each replica has one peak a day, so one hot of ten is beyond the percentile', () => {
    const memory = createVpaMemory();
    for (let replica = 0; replica < 10; replica++) memory.observe(replica, (replica === 7 ? 600 : 100) * MIB, 0);
    expect(memory.choose(undefined, 0)).toBeLessThan(130 * MIB);
  });
});

describe('OptiPod as shipped', () => {
  test('optipod 10: peaks are averaged away before the percentile is taken', () => {
    const usages = Array.from({ length: 576 }, (_, index) => (index % 10 === 0 ? 1000 : 100));
    // The mean of a day is 190, and its 90th percentile too: times 1.2, cut.
    expect(feed(createOptipodCpu(), usages)).toBeGreaterThanOrEqual(226);
    expect(feed(createOptipodCpu(), usages)).toBeLessThanOrEqual(229);
  });

  test('optipod 11: a steady use is advised times 1.2, cut', () => {
    expect(
      feed(
        createOptipodCpu(),
        Array.from({ length: 600 }, () => 333),
      ),
    ).toBe(399);
  });

  test('optipod 12: nothing used is one millicore, the least there is', () => {
    expect(feed(createOptipodCpu(), [0, 0])).toBe(1);
  });
});

describe('KRR-like and max', () => {
  const ramp = Array.from({ length: 101 }, (_, index) => index * 10);

  test('KRR takes the 95th percentile, and 10 millicores at least', () => {
    expect(feed(createKrrCpu(), ramp)).toBe(950);
    expect(feed(createKrrCpu(), [1, 1])).toBe(10);
  });

  test('KRR takes the highest of the pods, each by itself: nine idle ones do not hide a busy one', () => {
    const krr = createKrrCpu();
    for (let step = 0; step < 20; step++) {
      for (let replica = 0; replica < 10; replica++) krr.observe(replica === 7 ? 800 : 20, step * STEP, replica);
    }
    expect(krr.choose(undefined, 20 * STEP)).toBe(800);
    // A pod that is gone counts for the 14 days, and then no more.
    krr.observe(20, 13 * DAY, 0);
    expect(krr.choose(undefined, 13 * DAY)).toBe(800);
    krr.observe(20, 15 * DAY, 0);
    expect(krr.choose(undefined, 15 * DAY)).toBe(20);
  });

  test('max takes the highest and 15 %', () => {
    expect(feed(createMaxCpu(), ramp)).toBe(1150);
  });
});

describe('KRR-like memory', () => {
  const MIB = 2 ** 20;
  const HOUR = 3_600_000;

  test('is the highest use of 14 days and 15 %, of whichever replica', () => {
    const krr = createKrrMemory();
    krr.observe(0, 400 * MIB, 0);
    krr.observe(1, 500 * MIB, 1);
    krr.observe(0, 300 * MIB, 13 * 24 * HOUR);
    expect(krr.choose(undefined, 13 * 24 * HOUR)).toBe(Math.ceil(500 * MIB * 1.15));
    krr.observe(0, 300 * MIB, 14 * 24 * HOUR);
    expect(krr.choose(undefined, 14 * 24 * HOUR)).toBe(Math.ceil(300 * MIB * 1.15));
  });

  test('is never less than 100 MiB, and does not learn from kills but from what was used until then', () => {
    const krr = createKrrMemory();
    krr.observe(0, MIB, 0);
    krr.noteOom(0, 900 * MIB, 1);
    expect(krr.choose(undefined, 1)).toBe(100 * MIB);
    krr.observe(0, 100 * MIB, 2);
    expect(krr.choose(100 * MIB, 2)).toBe(Math.ceil(115 * MIB));
  });
});

describe('what rivals share', () => {
  test.each([
    [undefined, 5, 5],
    [100, 110, 100],
    [100, 111, 111],
    [100, 90, 100],
    [100, 89, 89],
  ])('a request of %s and advice of %i: %i', (current, advised, result) => {
    expect(gateChange(current, advised)).toBe(result);
  });

  test('for any samples, looked at at any time, the window holds exactly those of its length, sorted', () => {
    // Several of an instant are those of several replicas; seldom looked at, many are put in their places at once.
    const gap = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 50 }));
    const isLookedAt = fc.nat(20).map((dice) => dice === 0);
    const gaps = fc.array(fc.tuple(fc.nat(1000), gap, isLookedAt), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 500 }), (list, length) => {
        const window = createSampleWindow(length);
        const all: { value: number; at: number }[] = [];
        let now = 0;
        for (const [value, wait, look] of list) {
          now += wait;
          all.push({ value, at: now });
          window.add(value, now);
          if (look) expect(window.max()).toBe(window.sorted().at(-1));
        }
        const expected = all.filter(({ at }) => at > now - length).map(({ value }) => value);
        expected.sort((a, b) => a - b);
        expect(window.sorted()).toEqual(expected);
        expect(window.max()).toBe(expected.at(-1) ?? 0);
        expect(window.mean()).toBeCloseTo(expected.reduce((sum, value) => sum + value, 0) / expected.length, 6);
        expect(exactPercentile(window.sorted(), 100)).toBe(window.max());
      }),
      { numRuns: 100 },
    );
  });
});

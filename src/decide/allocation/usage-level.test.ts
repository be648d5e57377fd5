import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultAllocationRules } from './rules.ts';
import { isOther, type LevelRules, nextLevel, type UsageLevel } from './usage-level.ts';

const rules = defaultAllocationRules.demand.level;
const levelOf = (usages: readonly number[], given: LevelRules = rules): UsageLevel | undefined =>
  usages.reduce<UsageLevel | undefined>((level, usage) => nextLevel(level, usage, given), undefined);
const again = (usage: number, times: number): number[] => new Array<number>(times).fill(usage);
/** To and fro by the same amount: its deviation is known. */
const swinging = (mean: number, by: number, ticks: number): number[] =>
  Array.from({ length: ticks }, (_, tick) => mean + (tick % 2 === 0 ? by : -by));

describe('a level', () => {
  test('begins where the pod is, with a guess how much it varies', () => {
    expect(levelOf([400])).toEqual({ mean: 400, deviation: 40, samples: 1, above: 0, below: 0 });
    expect(levelOf([0])?.deviation).toBe(10);
  });

  test('comes to the mean and the deviation of its ticks', () => {
    const level = levelOf(swinging(500, 60, 200));
    expect(level?.mean).toBeCloseTo(500, -1);
    expect(level?.deviation).toBeCloseTo(60, -1);
    expect(level?.samples).toBe(rules.memoryTicks);
  });

  test('never varies by nothing: a load of one figure would make any other a surprise', () => {
    expect(levelOf(again(1000, 500))?.deviation).toBe(20);
    expect(levelOf(again(0, 500))?.deviation).toBe(3);
  });

  test('forgets what is long past', () => {
    expect(levelOf([...swinging(500, 100, 60), ...again(500, 400)])?.deviation).toBeLessThan(15);
  });
});

describe('another load', () => {
  test.each([
    ['one tick far above', [...again(400, 20), 900], 900],
    ['one tick far below', [...again(400, 20), 50], 50],
  ])('%s begins a new level', (_name, usages, mean) => {
    expect(levelOf(usages)).toMatchObject({ mean, samples: 1 });
  });

  test('a tick that is off as ticks are is part of it', () => {
    expect(levelOf([...swinging(500, 60, 40), 700])?.samples).toBe(41);
  });

  test.each([
    ['above', 560],
    ['below', 440],
  ])('many ticks a little %s are a new level too, soon', (_name, usage) => {
    const before = swinging(500, 60, 60);
    const begins = Array.from({ length: 60 }, (_, ticks) => ticks + 1).find(
      (ticks) => levelOf([...before, ...again(usage, ticks)])?.samples === 1,
    );
    expect(begins).toBeGreaterThan(8);
    expect(begins).toBeLessThan(40);
  });

  test('who jumps to and fro surprises nobody in the end', () => {
    const jumping = Array.from({ length: 60 }, (_, tick) => (tick % 5 === 0 ? 900 : 300));
    const level = levelOf(jumping);
    expect(level?.samples).toBeGreaterThan(5);
    expect(level?.deviation).toBeGreaterThan(140);
  });

  test('unless jumps are not to be remembered, as with limits', () => {
    const jumped = levelOf([...again(300, 20), 900], defaultAllocationRules.demand.levelOfLimits);
    expect(jumped?.deviation).toBe(90);
    expect(levelOf([...again(300, 2), 900])?.deviation).toBeGreaterThanOrEqual(90);
  });

  test('is another for certain only where the level is elsewhere', () => {
    const old = { mean: 400, deviation: 30, samples: 30, above: 0, below: 0 };
    expect(isOther(old, { ...old, mean: 700, samples: 1 })).toBe(true);
    expect(isOther(old, { ...old, mean: 430, samples: 1 })).toBe(false);
    expect(isOther(old, { ...old, mean: 700, samples: 2 })).toBe(false);
  });
});

test('for any usage a level is finite, within what was used, and counts no further than it remembers', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 64_000 }), { minLength: 1, maxLength: 100 }), (usages) => {
      const level = levelOf(usages);
      expect(level?.mean).toBeGreaterThanOrEqual(Math.min(...usages) - 1e-9);
      expect(level?.mean).toBeLessThanOrEqual(Math.max(...usages) + 1e-9);
      expect(level?.deviation).toBeGreaterThanOrEqual(3);
      expect(Number.isFinite(level?.deviation)).toBe(true);
      expect(level?.samples).toBeLessThanOrEqual(rules.memoryTicks);
      expect(Math.max(level?.above ?? 0, level?.below ?? 0)).toBeLessThanOrEqual(rules.drift);
    }),
    { numRuns: 300 },
  );
});

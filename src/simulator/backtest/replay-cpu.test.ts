import { describe, expect, test } from 'vitest';
import { figuresOf } from './figures.ts';
import { replayCpu } from './replay-cpu.ts';
import type { Strategy } from './strategy.ts';

const HOUR = 3_600_000;
const STEP = 300_000;
const series = (usages: readonly number[]) => ({
  name: 'x',
  at: Float64Array.from(usages.keys(), (index) => index * STEP),
  usage: Float64Array.from(usages),
});
const fixed = (request: number): Strategy => ({ observe() {}, choose: () => request });

describe('replay', () => {
  test('judges what is in force, after the warm-up', () => {
    const sums = replayCpu(series([900, 100, 150, 50]), fixed(100), { warmUpMillis: STEP, cooldownMillis: 0 });
    expect(sums).toEqual({
      samples: 2,
      millis: 2 * STEP,
      requested: 200,
      used: 200,
      unused: 50,
      missing: 50,
      exceeded: 1,
      changes: 0,
    });
  });

  test('replicas of an instant are all judged by what was in force, and learned from, before anything changes', () => {
    let highest = 0;
    const follows: Strategy = {
      observe(usage) {
        highest = Math.max(highest, usage);
      },
      choose: () => highest,
    };
    const at = Float64Array.of(0, 0, STEP, STEP, 2 * STEP, 2 * STEP);
    const usage = Float64Array.of(10, 20, 30, 25, 30, 40);
    const sums = replayCpu({ name: 'x', at, usage }, follows, { warmUpMillis: 0, cooldownMillis: 0 });
    // 20 is in force for 30 and 25, then 30 for 30 and 40.
    expect(sums).toMatchObject({ samples: 4, requested: 100, exceeded: 3, changes: 2, millis: 2 * STEP });
  });

  test('a strategy is told which replica a sample is of; without numbers there is one', () => {
    const seen: number[] = [];
    const curious: Strategy = {
      observe(_usage, _at, replica) {
        seen.push(replica);
      },
      choose: () => 1,
    };
    const columns = { name: 'x', at: Float64Array.of(0, 0, STEP), usage: Float64Array.of(1, 2, 3) };
    replayCpu({ ...columns, replicas: Float64Array.of(0, 1, 1) }, curious);
    replayCpu(columns, curious);
    expect(seen).toEqual([0, 1, 1, 0, 0, 0]);
  });

  test('a strategy sees a sample only after it was judged', () => {
    let last = 0;
    const copycat: Strategy = {
      observe(usage) {
        last = usage;
      },
      choose: () => last,
    };
    const sums = replayCpu(series([1, 2, 3, 4]), copycat, { warmUpMillis: 0, cooldownMillis: 0 });
    expect(sums).toMatchObject({ samples: 3, exceeded: 3, changes: 3 });
  });

  test('changes are at least the cooldown apart', () => {
    let next = 0;
    const restless: Strategy = { observe() {}, choose: () => ++next };
    const sums = replayCpu(series(Array.from({ length: 61 }, () => 0)), restless, {
      warmUpMillis: 0,
      cooldownMillis: HOUR,
    });
    expect(sums.changes).toBe(5);
  });

  test('a gap in the recording stands for an hour at most', () => {
    const gap = { name: 'gap', at: Float64Array.of(0, STEP, 30 * HOUR), usage: Float64Array.of(1, 1, 1) };
    const sums = replayCpu(gap, fixed(1), { warmUpMillis: 0, cooldownMillis: 0 });
    expect(sums.millis).toBe(STEP + HOUR);
    expect(figuresOf(sums).slack).toBe(0);
  });

  test('a recording shorter than the warm-up judges nothing', () => {
    expect(replayCpu(series([1, 2]), fixed(1)).samples).toBe(0);
    expect(replayCpu(series([]), fixed(1)).samples).toBe(0);
  });
});

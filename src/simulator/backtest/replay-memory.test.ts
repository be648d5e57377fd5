import { describe, expect, test } from 'vitest';
import type { MemoryTrace } from './memory-trace.ts';
import { leastConstant, type MemoryStrategy, poolMemory, replayMemory } from './replay-memory.ts';

const STEP = 300_000;
const DAY_STEPS = 288;

function trace(demand: (step: number) => number[], isSeen: (step: number) => boolean = () => true): MemoryTrace {
  return {
    name: 'x',
    points: Array.from({ length: DAY_STEPS + 20 }, (_, step) => ({
      at: step * STEP,
      demand: demand(step),
      isSeen: isSeen(step),
    })),
  };
}

const doubling = (seen: number[] = []): MemoryStrategy => {
  let need = 100;
  return {
    observe: (_replica, usage) => seen.push(usage),
    noteOom(_replica, limit) {
      need = limit * 2;
    },
    choose: () => need,
  };
};

describe('memory replay', () => {
  test('counts idle memory after the warm-up, and no kills where there is enough', () => {
    const sums = replayMemory(
      trace(() => [60]),
      doubling(),
    );
    expect(sums).toMatchObject({ ooms: 0, longestStreak: 0, requested: 1900, unused: 760, changes: 0 });
  });

  test('kills what wants more than it has, until a value suffices, each answered at once', () => {
    const sums = replayMemory(
      trace((step) => [step > DAY_STEPS + 5 ? 350 : 50]),
      doubling(),
    );
    expect(sums).toMatchObject({ ooms: 2, longestStreak: 2, changes: 2 });
  });

  test('no replica is seen using more than it has', () => {
    const seen: number[] = [];
    replayMemory(
      trace((step) => [step > DAY_STEPS + 5 ? 150 : 50]),
      doubling(seen),
    );
    expect(seen.filter((usage) => usage > 50 && usage < 150)).toEqual([100]);
  });

  test('in a gap nothing is seen, but kills are told', () => {
    const seen: number[] = [];
    const sums = replayMemory(
      trace(
        () => [150],
        (step) => step < 10,
      ),
      doubling(seen),
    );
    expect(seen).toHaveLength(10);
    expect(sums.ooms).toBe(1);
  });

  test('streaks are of one replica', () => {
    const sums = replayMemory(
      trace((step) => (step === DAY_STEPS + 3 ? [150, 150, 150] : [50, 50, 50])),
      doubling(),
    );
    expect(sums).toMatchObject({ ooms: 3, longestStreak: 1 });
  });

  test('replicas that come and go are told apart by their numbers', () => {
    const { name, points } = trace((step) => (step >= DAY_STEPS + 3 && step < DAY_STEPS + 6 ? [150] : [50]));
    const renamed = points.map((point, step) => ({ ...point, replicas: [step % 2] }));
    const never: MemoryStrategy = { observe() {}, noteOom() {}, choose: () => 100 };
    expect(replayMemory({ name, points }, never)).toMatchObject({ ooms: 3, longestStreak: 3 });
    // Of the three kills two are of the one and one of the other.
    expect(replayMemory({ name, points: renamed }, never)).toMatchObject({ ooms: 3, longestStreak: 2 });
  });

  test('a strategy with a cooldown of its own is held to that one', () => {
    const growing = (): MemoryStrategy => ({ observe() {}, noteOom() {}, choose: (current = 100) => current + 1 });
    const steady = trace(() => [60]);
    const [hourly, always] = [replayMemory(steady, growing()), replayMemory(steady, growing(), 0)];
    expect(hourly.changes).toBe(1);
    expect(always.changes).toBe(19);
  });

  test('the least value that kills nothing is the highest use after the warm-up, for every replica', () => {
    const sums = leastConstant(trace((step) => (step <= DAY_STEPS ? [900, 900] : [60, 100])));
    expect(sums).toMatchObject({ ooms: 0, changes: 0, requested: 19 * 200, unused: 19 * 40 });
    expect(sums.days).toBeCloseTo(19 / DAY_STEPS, 9);
  });

  test('pooled: sums of kills, the longest streak, slack of all memory', () => {
    const one = replayMemory(
      trace(() => [60]),
      doubling(),
    );
    const two = replayMemory(
      trace((step) => [step > DAY_STEPS + 5 ? 350 : 50]),
      doubling(),
    );
    const pooled = poolMemory([one, two]);
    expect(pooled).toMatchObject({ ooms: 2, longestStreak: 2 });
    expect(pooled.slack).toBeCloseTo((one.unused + two.unused) / (one.requested + two.requested), 9);
    expect(poolMemory([])).toEqual({ slack: 0, ooms: 0, longestStreak: 0, changesPerDay: 0 });
  });
});

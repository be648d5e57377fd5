/**
 * CPU usage made up from a seed, in the shapes services have: days and weeks, steps, trends, spikes, batch jobs, noise. The
 * defaults were never fitted to them one by one; they show how a strategy does on series it has not seen.
 */
import { createSeededRandom, type Random } from '../../lib/random.ts';
import type { UsagePoint, UsageSeries } from './usage-series.ts';

const STEP_MILLIS = 300_000;
const DAY_STEPS = 288;
const MACHINE = 4000;
const DAYS = 14;
/** Series of each shape for one seed. */
const PER_SHAPE = 2;

interface Dice {
  /** A number from `low` to `high`. */
  between(low: number, high: number): number;
  /** True once in `mean` calls, on average. */
  onceIn(mean: number): boolean;
  /** Normal distribution with mean 0 and deviation 1. */
  normal(): number;
}

function createDice(random: Random): Dice {
  return {
    between: (low, high) => low + (high - low) * random.next(),
    onceIn: (mean) => random.next() < 1 / mean,
    normal: () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next()),
  };
}

/** Draws what makes one series, and gives its usage at each step. */
type Shape = (dice: Dice) => (step: number) => number;

const dayWave = (step: number, phase: number): number => Math.sin(2 * Math.PI * (step / DAY_STEPS + phase));
const isWeekend = (step: number): boolean => Math.floor(step / DAY_STEPS) % 7 >= 5;

const shapes: Readonly<Record<string, Shape>> = {
  flat: (dice) => {
    const [level, noise] = [dice.between(5, 1500), dice.between(0.02, 0.1)];
    return () => level * (1 + noise * dice.normal());
  },
  daily: (dice) => {
    const [level, swing, phase, noise] = [
      dice.between(100, 1600),
      dice.between(0.3, 0.9),
      dice.between(0, 1),
      dice.between(0.03, 0.13),
    ];
    return (step) => level * (1 + swing * dayWave(step, phase)) * (1 + noise * dice.normal());
  },
  weekly: (dice) => {
    const [level, swing, weekend] = [dice.between(100, 1600), dice.between(0.3, 0.8), dice.between(0.3, 0.7)];
    return (step) =>
      level * (isWeekend(step) ? weekend : 1) * (1 + swing * dayWave(step, 0)) * (1 + 0.05 * dice.normal());
  },
  office: (dice) => {
    const [idle, busy] = [dice.between(50, 150), dice.between(600, 2100)];
    return (step) => {
      const hour = (step % DAY_STEPS) / 12;
      return (!isWeekend(step) && hour >= 8 && hour < 18 ? busy : idle) * (1 + 0.08 * dice.normal());
    };
  },
  steps: (dice) => {
    const [noise, meanSteps] = [dice.between(0.04, 0.1), DAY_STEPS * dice.between(2, 6)];
    let level = dice.between(200, 1200);
    return () => {
      if (dice.onceIn(meanSteps)) level = Math.min(3500, Math.max(50, level * dice.between(0.4, 2)));
      return level * (1 + noise * dice.normal());
    };
  },
  trend: (dice) => {
    const [level, growth] = [dice.between(200, 1000), dice.between(0.2, 0.7) * (dice.onceIn(2) ? 1 : -1)];
    return (step) => level * (1 + (growth * step) / (DAYS * DAY_STEPS)) * (1 + 0.05 * dice.normal());
  },
  spikes: (dice) => {
    const [level, height, gap] = [dice.between(50, 350), dice.between(1000, 3500), DAY_STEPS / dice.between(3, 13)];
    let left = 0;
    return () => {
      if (left > 0) left--;
      else if (dice.onceIn(gap)) left = Math.floor(dice.between(2, 6));
      return (left > 0 ? height * dice.between(0.7, 1) : level) * (1 + 0.08 * dice.normal());
    };
  },
  batch: (dice) => {
    const [height, start, length] = [
      dice.between(800, 3800),
      Math.floor(dice.between(0, DAY_STEPS)),
      Math.floor(dice.between(6, 36)),
    ];
    return (step) => {
      const isRunning = (step - start + DAYS * DAY_STEPS) % DAY_STEPS < length;
      return (isRunning ? height : dice.between(5, 15)) * (1 + 0.05 * dice.normal());
    };
  },
  wandering: (dice) => {
    const [level, spread, memory] = [dice.between(200, 1000), dice.between(0.1, 0.35), dice.between(0.97, 0.995)];
    let deviation = 0;
    return () => {
      deviation = memory * deviation + Math.sqrt(1 - memory ** 2) * dice.normal();
      return level * Math.exp(spread * deviation);
    };
  },
  'heavy-tailed': (dice) => {
    const [level, tail] = [dice.between(50, 350), dice.between(1.5, 3)];
    return () => level * (0.7 + 0.3 * dice.between(0.0001, 1) ** (-1 / tail));
  },
};

/** 20 series of 14 days, two of each shape; equal seeds give equal series. */
export function generateCpuSeries(seed: number): UsageSeries[] {
  const seeds = createSeededRandom(seed);
  return Object.entries(shapes).flatMap(([shape, draw]) =>
    Array.from({ length: PER_SHAPE }, (_, index): UsageSeries => {
      const usageAt = draw(createDice(createSeededRandom(Math.floor(seeds.next() * 2 ** 32))));
      const points = Array.from(
        { length: DAYS * DAY_STEPS },
        (_step, step): UsagePoint => ({
          at: step * STEP_MILLIS,
          usage: Math.min(MACHINE, Math.max(1, usageAt(step))),
        }),
      );
      return { name: `${shape}-${index + 1}`, points };
    }),
  );
}

/** CPU usage with one trait each: a day, a week, steps, a trend, spikes, a batch job, noise. */
import type { Dice } from './dice.ts';

export const DAY_STEPS = 288;
export const SERIES_DAYS = 14;

/** Draws what makes one series, and gives its usage in millicores at each step of five minutes. */
export type Shape = (dice: Dice) => (step: number) => number;

/** From -1 to 1, once a day. */
export const dayWave = (step: number, phase: number): number => Math.sin(2 * Math.PI * (step / DAY_STEPS + phase));
export const isWeekend = (step: number): boolean => Math.floor(step / DAY_STEPS) % 7 >= 5;

export const plainShapes: Readonly<Record<string, Shape>> = {
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
    return (step) => level * (1 + (growth * step) / (SERIES_DAYS * DAY_STEPS)) * (1 + 0.05 * dice.normal());
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
      const isRunning = (step - start + SERIES_DAYS * DAY_STEPS) % DAY_STEPS < length;
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

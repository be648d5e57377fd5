/** CPU usage that changes its ways, or has several: drifting days, new regimes, idle then busy, bursts, jobs every few hours. */
import { DAY_STEPS, dayWave, isWeekend, type Shape } from './plain-shapes.ts';

export const mixedShapes: Readonly<Record<string, Shape>> = {
  'drifting days': (dice) => {
    const [level, swing, growth] = [dice.between(150, 900), dice.between(0.2, 0.7), dice.between(-0.05, 0.1)];
    return (step) =>
      level * (1 + growth * (step / DAY_STEPS)) * (1 + swing * dayWave(step, 0.3)) * (1 + 0.06 * dice.normal());
  },
  mondays: (dice) => {
    const [level, swing, peak] = [dice.between(100, 900), dice.between(0.1, 0.5), dice.between(1.3, 2.2)];
    return (step) => {
      const isMonday = Math.floor(step / DAY_STEPS) % 7 === 0;
      const weight = isMonday ? peak : isWeekend(step) ? 0.6 : 1;
      return level * weight * (1 + swing * dayWave(step, 0.7)) * (1 + 0.07 * dice.normal());
    };
  },
  regimes: (dice) => {
    const draw = () => ({
      level: dice.between(50, 1800),
      swing: dice.onceIn(2) ? dice.between(0.1, 0.7) : 0,
      noise: dice.between(0.02, 0.2),
    });
    let regime = draw();
    return (step) => {
      if (dice.onceIn(5 * DAY_STEPS)) regime = draw();
      return regime.level * (1 + regime.swing * dayWave(step, 0)) * (1 + regime.noise * dice.normal());
    };
  },
  'idle then busy': (dice) => {
    const [idle, busy, noise] = [dice.between(3, 60), dice.between(300, 2500), dice.between(0.03, 0.15)];
    const [from, to] = [dice.between(2, 9) * DAY_STEPS, dice.between(8, 20) * DAY_STEPS];
    return (step) => (step >= from && step < to ? busy : idle) * (1 + noise * dice.normal());
  },
  jobs: (dice) => {
    const [level, height] = [dice.between(10, 400), dice.between(300, 3000)];
    const [every, length] = [Math.floor(dice.between(6, 100)), Math.floor(dice.between(1, 5))];
    return (step) => (step % every < length ? height : level) * (1 + 0.08 * dice.normal());
  },
  bursts: (dice) => {
    const [level, height, gap] = [dice.between(50, 600), dice.between(1.5, 6), DAY_STEPS * dice.between(0.7, 3)];
    let left = 0;
    return () => {
      if (left > 0) left--;
      else if (dice.onceIn(gap)) left = Math.floor(dice.between(12, 96));
      return level * (left > 0 ? height : 1) * (1 + 0.1 * dice.normal());
    };
  },
  saturated: (dice) => {
    const [level, dip, gap] = [dice.between(2800, 3900), dice.between(0.1, 0.8), DAY_STEPS * dice.between(0.3, 2)];
    let left = 0;
    return () => {
      if (left > 0) left--;
      else if (dice.onceIn(gap)) left = Math.floor(dice.between(2, 60));
      return level * (left > 0 ? dip : 1) * (1 + 0.02 * dice.normal());
    };
  },
  sawtooth: (dice) => {
    const [level, growth, period] = [dice.between(100, 900), dice.between(0.4, 2), dice.between(20, 400)];
    return (step) => level * (1 + (growth * (step % period)) / period) * (1 + 0.05 * dice.normal());
  },
  'busy days': (dice) => {
    const [level, swing, spread] = [dice.between(100, 1100), dice.between(0.2, 0.8), dice.between(0.05, 0.25)];
    let deviation = 0;
    return (step) => {
      deviation = 0.95 * deviation + Math.sqrt(1 - 0.95 ** 2) * dice.normal();
      const spike = dice.onceIn(150) ? dice.between(1.3, 3) : 1;
      return level * spike * (1 + swing * dayWave(step, 0.5)) * Math.exp(spread * deviation);
    };
  },
  deploys: (dice) => {
    const noise = dice.between(0.03, 0.1);
    let level = dice.between(150, 1800);
    let sinceDeploy = 0;
    return () => {
      sinceDeploy++;
      if (dice.onceIn(1.5 * DAY_STEPS)) {
        level = Math.min(3000, Math.max(30, level * dice.between(0.75, 1.35)));
        sinceDeploy = 0;
      }
      return level * (sinceDeploy < 2 ? 2 : 1) * (1 + noise * dice.normal());
    };
  },
};

import { describe, expect, test } from 'vitest';
import { figuresOf, poolFigures, type ReplaySums } from './figures.ts';

const DAY = 86_400_000;
const small: ReplaySums = {
  samples: 100,
  millis: DAY,
  requested: 100,
  used: 60,
  unused: 50,
  missing: 10,
  exceeded: 5,
  changes: 2,
};
const large: ReplaySums = {
  samples: 100,
  millis: 3 * DAY,
  requested: 900,
  used: 840,
  unused: 90,
  missing: 30,
  exceeded: 15,
  changes: 2,
};

describe('figures', () => {
  test('of one series', () => {
    expect(figuresOf(small)).toEqual({ slack: 0.5, underProvisioned: 0.05, deficit: 1 / 6, changesPerDay: 2 });
  });

  test('pooled are as of one series; the mean slack counts each alike', () => {
    expect(poolFigures([small, large])).toEqual({
      slack: 0.14,
      underProvisioned: 0.1,
      deficit: 40 / 900,
      changesPerDay: 1,
      meanSlack: 0.3,
      series: 2,
    });
  });

  test('of nothing are nothing, not a division by it', () => {
    expect(poolFigures([])).toEqual({
      slack: 0,
      underProvisioned: 0,
      deficit: 0,
      changesPerDay: 0,
      meanSlack: 0,
      series: 0,
    });
  });
});

/** Series of CPU usage made up from a seed, in the shapes services have. */
import { createSeededRandom } from '../../lib/random.ts';
import { createDice } from './dice.ts';
import { mixedShapes } from './mixed-shapes.ts';
import { DAY_STEPS, plainShapes, SERIES_DAYS } from './plain-shapes.ts';
import type { UsageSeries } from './usage-series.ts';

const STEP_MILLIS = 300_000;
const MACHINE = 4000;
/** Series of each shape for one seed. */
const PER_SHAPE = 2;

/** 40 series of 14 days, two of each shape; equal seeds give equal series. */
export function generateCpuSeries(seed: number): UsageSeries[] {
  const seeds = createSeededRandom(seed);
  return Object.entries({ ...plainShapes, ...mixedShapes }).flatMap(([shape, draw]) =>
    Array.from({ length: PER_SHAPE }, (_, index): UsageSeries => {
      const usageAt = draw(createDice(createSeededRandom(Math.floor(seeds.next() * 2 ** 32))));
      const at = Float64Array.from({ length: SERIES_DAYS * DAY_STEPS }, (_step, step) => step * STEP_MILLIS);
      const usage = at.map((_at, step) => Math.min(MACHINE, Math.max(1, usageAt(step))));
      return { name: `${shape}-${index + 1}`, at, usage };
    }),
  );
}

/** Replays the same series under every strategy and puts the figures side by side. */
import { type Figures, figuresOf, type PooledFigures, poolFigures, type ReplaySums } from './figures.ts';
import { defaultReplay, type ReplayOptions, replayCpu } from './replay-cpu.ts';
import type { NamedStrategy } from './strategy.ts';
import type { UsageSeries } from './usage-series.ts';

/** One strategy over all series it had something to say of. */
export interface StrategyFigures {
  readonly strategy: string;
  readonly description: string;
  readonly pooled: PooledFigures;
  readonly perSeries: readonly (Figures & { readonly series: string })[];
}

/** Takes series one after the other, so that thousands of them need the memory of one. */
export interface CpuComparing {
  add(series: UsageSeries): void;
  series(): number;
  figures(): StrategyFigures[];
}

/** Each strategy sees each series from its beginning, by itself. */
export function createCpuComparing(
  strategies: readonly NamedStrategy[],
  options: ReplayOptions = defaultReplay,
): CpuComparing {
  const compared = strategies.map((strategy) => ({ strategy, names: [] as string[], sums: [] as ReplaySums[] }));
  let count = 0;
  return {
    add(series) {
      count++;
      for (const { strategy, names, sums } of compared) {
        const created = strategy.create(series);
        if (created === undefined) continue;
        const { cooldownMillis = options.cooldownMillis } = strategy;
        names.push(series.name);
        sums.push(replayCpu(series, created, { ...options, cooldownMillis }));
      }
    },
    series: () => count,
    figures: () =>
      compared
        .filter(({ sums }) => sums.length > 0 || count === 0)
        .map(({ strategy: { name, description }, names, sums }) => ({
          strategy: name,
          description,
          pooled: poolFigures(sums),
          perSeries: sums.map((sum, index) => ({ series: names[index] ?? '', ...figuresOf(sum) })),
        })),
  };
}

/** For series that are at hand; see {@link createCpuComparing} for those that are not. */
export function compareCpu(series: Iterable<UsageSeries>, strategies: readonly NamedStrategy[]): StrategyFigures[] {
  const comparing = createCpuComparing(strategies);
  for (const one of series) comparing.add(one);
  return comparing.figures();
}

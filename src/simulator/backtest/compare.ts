/** Replays the same series under every strategy and puts the figures side by side. */
import { type Figures, figuresOf, type PooledFigures, poolFigures } from './figures.ts';
import { defaultReplay, type ReplayOptions, replayCpu } from './replay-cpu.ts';
import type { NamedStrategy } from './strategy.ts';
import type { UsageSeries } from './usage-series.ts';

export interface StrategyFigures {
  readonly strategy: string;
  readonly description: string;
  readonly pooled: PooledFigures;
  readonly perSeries: readonly (Figures & { readonly series: string })[];
}

export function compareCpu(
  series: readonly UsageSeries[],
  strategies: readonly NamedStrategy[],
  options: ReplayOptions = defaultReplay,
): StrategyFigures[] {
  return strategies.map(({ name, description, create }) => {
    const sums = series.map((one) => replayCpu(one, create(), options));
    return {
      strategy: name,
      description,
      pooled: poolFigures(sums),
      perSeries: sums.map((sum, index) => ({ series: series[index]?.name ?? '', ...figuresOf(sum) })),
    };
  });
}

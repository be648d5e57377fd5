/** The result of `stowage backtest` for machines. */
import { compareCpu, type StrategyFigures } from '../../simulator/backtest/compare.ts';
import { compareMemory, type MemoryComparison } from '../../simulator/backtest/compare-memory.ts';
import { cpuStrategies } from '../../simulator/backtest/cpu-strategies.ts';
import { generateCpuSeries } from '../../simulator/backtest/generated-cpu.ts';
import { DOCUMENT_VERSION, type ResultDocument } from '../output.ts';
import type { ReplayedRecordings } from './replay-recordings.ts';

export interface CpuComparison {
  /** A directory, or the seed the series were made from. */
  readonly source: string;
  readonly series: number;
  readonly strategies: readonly StrategyFigures[];
}

export interface BacktestDocument extends ResultDocument {
  readonly kind: 'Backtest';
  readonly cpu: readonly CpuComparison[];
  /** Of generated traces; empty without a seed. */
  readonly memory: readonly MemoryComparison[];
  readonly problems: readonly string[];
}

export interface BacktestInput {
  readonly recorded: ReplayedRecordings | undefined;
  readonly generated: number | undefined;
}

/** Memory traces of each scenario for one seed. */
const MEMORY_TRACES = 4;

export function buildBacktest({ recorded, generated }: BacktestInput): BacktestDocument {
  return {
    apiVersion: DOCUMENT_VERSION,
    kind: 'Backtest',
    cpu: [
      ...(recorded === undefined ? [] : [recorded.comparison]),
      ...(generated === undefined ? [] : [compareGenerated(generated)]),
    ],
    memory:
      generated === undefined
        ? []
        : compareMemory(Array.from({ length: MEMORY_TRACES }, (_, index) => generated * MEMORY_TRACES + index)),
    problems: recorded?.problems ?? [],
  };
}

function compareGenerated(seed: number): CpuComparison {
  const series = generateCpuSeries(seed);
  return { source: `seed ${seed}`, series: series.length, strategies: compareCpu(series, cpuStrategies) };
}

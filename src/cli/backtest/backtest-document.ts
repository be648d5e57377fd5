/** The result of `stowage backtest` for machines. */
import { compareCpu, type StrategyFigures } from '../../simulator/backtest/compare.ts';
import { compareMemory, type MemoryComparison } from '../../simulator/backtest/compare-memory.ts';
import { generateCpuSeries } from '../../simulator/backtest/generated-cpu.ts';
import { DOCUMENT_VERSION, type ResultDocument } from '../output.ts';
import type { Rows } from './strategies.ts';

export interface CpuComparison {
  /** A directory, the address and length of a history, or the seed the series were made from. */
  readonly source: string;
  readonly series: number;
  readonly strategies: readonly StrategyFigures[];
}

export interface MemoryOfSource extends MemoryComparison {
  readonly source: string;
  /** Where the trace is all recorded containers together: each of them. */
  readonly perContainer?: readonly MemoryComparison[];
}

/** What was replayed of one source. */
export interface Replayed {
  readonly cpu: CpuComparison;
  readonly memory: readonly MemoryOfSource[];
  readonly problems: readonly string[];
}

export interface BacktestDocument extends ResultDocument {
  readonly kind: 'Backtest';
  readonly cpu: readonly CpuComparison[];
  /** Recordings in files have none. */
  readonly memory: readonly MemoryOfSource[];
  readonly problems: readonly string[];
}

/** Memory traces of each scenario for one seed. */
const MEMORY_TRACES = 4;

/** @param problems of what is not about one source: the policies. */
export function buildBacktest(replayed: readonly Replayed[], problems: readonly string[]): BacktestDocument {
  return {
    apiVersion: DOCUMENT_VERSION,
    kind: 'Backtest',
    cpu: replayed.map(({ cpu }) => cpu),
    memory: replayed.flatMap(({ memory }) => memory),
    problems: [...problems, ...replayed.flatMap((one) => one.problems)],
  };
}

/** Series and traces made up from a seed. */
export function replayGenerated(seed: number, rows: Rows): Replayed {
  const source = `seed ${seed}`;
  const series = generateCpuSeries(seed);
  const traces = Array.from({ length: MEMORY_TRACES }, (_, index) => seed * MEMORY_TRACES + index);
  return {
    cpu: { source, series: series.length, strategies: compareCpu(series, rows.cpu) },
    memory: compareMemory(traces, rows.policyMemory).map((comparison) => ({ source, ...comparison })),
    problems: [],
  };
}

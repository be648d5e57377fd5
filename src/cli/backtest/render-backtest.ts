/** The result of `stowage backtest` for people. */

import { ascending } from '../../lib/ascending.ts';
import type { MemoryComparison } from '../../simulator/backtest/compare-memory.ts';
import type { Figures } from '../../simulator/backtest/figures.ts';
import type { CliContext } from '../cli-context.ts';
import { counted } from '../plural.ts';
import { type Column, renderTable } from '../table.ts';
import type { BacktestDocument, CpuComparison } from './backtest-document.ts';

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

const figureColumns: readonly Column<Figures>[] = [
  { header: 'SLACK', value: ({ slack }) => percent(slack), align: 'right' },
  { header: 'UNDER', value: ({ underProvisioned }) => percent(underProvisioned), align: 'right' },
  { header: 'DEFICIT', value: ({ deficit }) => percent(deficit), align: 'right' },
  { header: 'CHANGES/DAY', value: ({ changesPerDay }) => changesPerDay.toFixed(2), align: 'right' },
];

export function renderBacktest(document: BacktestDocument, { style, global, io }: CliContext): string[] {
  const options = { style, width: io.out.size()?.columns };
  const isWide = global.output === 'wide';
  const cpu = document.cpu.flatMap((comparison) => [
    style('heading', `CPU of ${counted(comparison.series, 'series', 'series')} (${comparison.source})`),
    ...renderTable(pooledColumns, comparison.strategies.map(toRow), options),
    '',
    ...(isWide ? [...renderTable(seriesColumns, seriesRows(comparison), options), ''] : []),
  ]);
  const memory = [...Map.groupBy(document.memory, ({ source }) => source)].flatMap(([source, comparisons]) => {
    const containers = comparisons.flatMap(({ perContainer = [] }) => perContainer);
    const isRecorded = containers.length > 0;
    const heading = isRecorded ? `Memory of ${counted(containers.length, 'container')} (${source})` : GENERATED;
    const columns = isRecorded ? containerColumns : memoryColumns;
    return [
      style('heading', heading),
      ...renderTable(columns, memoryRows(comparisons), options),
      '',
      ...(isWide && isRecorded ? [...renderTable(columns, memoryRows(containers), options), ''] : []),
    ];
  });
  return [
    ...cpu,
    ...memory,
    ...LEGEND,
    ...(cpu.length > 0 ? CPU_LEGEND : []),
    ...(memory.length > 0 ? MEMORY_LEGEND : []),
  ];
}

const GENERATED = 'Memory of generated traces';
const LEGEND = ['SLACK: requested but unused. CHANGES/DAY: of one container.'];
const CPU_LEGEND = [
  'MEAN SLACK: slack, averaged over the series. UNDER: samples with usage above the request. DEFICIT: usage above the request, of all usage.',
];
const MEMORY_LEGEND = [
  'STREAK: kills before a value sufficed. LEAST: slack of the one value for all replicas that would just have killed nothing, known beforehand.',
  'Memory: requests are taken for limits, so that a sample above one is a kill, also where the cluster has no such limit.',
];

interface PooledRow extends Figures {
  readonly strategy: string;
  readonly meanSlack: number;
  readonly description: string;
}

const toRow = ({ strategy, pooled, description }: CpuComparison['strategies'][number]): PooledRow => ({
  strategy,
  description,
  ...pooled,
});

const [slackColumn, ...otherColumns] = figureColumns;
const pooledColumns: readonly Column<PooledRow>[] = [
  { header: 'STRATEGY', value: ({ strategy }) => strategy },
  ...(slackColumn === undefined ? [] : [slackColumn]),
  { header: 'MEAN SLACK', value: ({ meanSlack }) => percent(meanSlack), align: 'right' },
  ...otherColumns,
  { header: 'REQUESTS', value: ({ description }) => description },
];

interface SeriesRow extends Figures {
  readonly series: string;
  readonly strategy: string;
}

function seriesRows({ strategies }: CpuComparison): SeriesRow[] {
  return strategies
    .flatMap(({ strategy, perSeries }) => perSeries.map((figures) => ({ strategy, ...figures })))
    .toSorted((a, b) => ascending(a.series, b.series));
}

const seriesColumns: readonly Column<SeriesRow>[] = [
  { header: 'SERIES', value: ({ series }) => series },
  { header: 'STRATEGY', value: ({ strategy }) => strategy },
  ...figureColumns,
];

interface MemoryRow {
  readonly trace: string;
  readonly strategy: string;
  readonly slack: number;
  readonly leastSlack: number;
  readonly ooms: number;
  readonly longestStreak: number;
  readonly changesPerDay: number;
}

function memoryRows(comparisons: readonly MemoryComparison[]): MemoryRow[] {
  return comparisons.flatMap(({ trace, strategies, leastSlack }) =>
    strategies.map((figures) => ({ trace, leastSlack, ...figures })),
  );
}

const memoryFigureColumns: readonly Column<MemoryRow>[] = [
  { header: 'STRATEGY', value: ({ strategy }) => strategy },
  { header: 'SLACK', value: ({ slack }) => percent(slack), align: 'right' },
  { header: 'LEAST', value: ({ leastSlack }) => percent(leastSlack), align: 'right' },
  { header: 'OOM KILLS', value: ({ ooms }) => ooms, align: 'right' },
  { header: 'STREAK', value: ({ longestStreak }) => longestStreak, align: 'right' },
  { header: 'CHANGES/DAY', value: ({ changesPerDay }) => changesPerDay.toFixed(2), align: 'right' },
];

const memoryColumns: readonly Column<MemoryRow>[] = [
  { header: 'TRACE', value: ({ trace }) => trace },
  ...memoryFigureColumns,
];
const containerColumns: readonly Column<MemoryRow>[] = [
  { header: 'CONTAINER', value: ({ trace }) => trace },
  ...memoryFigureColumns,
];

/** The plots of a run: what each of them shows, with its legend and its figures as a table. */
import { escapeMarkup } from '../../lib/escape-markup.ts';
import type { SeriesName, SimulationSeries } from '../../simulator/series.ts';
import { counted } from '../plural.ts';
import { highestOf, lanePlot, linePlot, type PlotLane, type PlotLine, timeText } from './time-plot.ts';

/** A run on a page that may have another. */
export interface PlottedRun {
  /** Unique on the page. */
  readonly name: string;
  readonly series: SimulationSeries;
}

export interface PlotSection {
  readonly title: string;
  /** HTML, one a run. */
  readonly figures: readonly string[];
}

interface LineSpec {
  readonly name: SeriesName;
  readonly label: string;
  readonly look: string;
  readonly shape: PlotLine['shape'];
}

interface PlotSpec {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly LineSpec[];
  readonly scale?: number;
}

const plots: readonly PlotSpec[] = [
  {
    title: 'Pods',
    unit: 'pods',
    lines: [
      { name: 'readyOnDemand', label: 'ready on on-demand', look: 'demand', shape: 'area' },
      { name: 'readySpot', label: 'ready on spot', look: 'spot', shape: 'area' },
      { name: 'replicas', label: 'wanted', look: 'ink', shape: 'line' },
    ],
  },
  {
    title: 'Unavailable replicas',
    unit: 'replicas',
    lines: [{ name: 'unavailable', label: 'not ready', look: 'harm', shape: 'area' }],
  },
  {
    title: 'Cost per hour',
    unit: 'an hour',
    lines: [
      { name: 'costPerHour', label: 'cost', look: 'spot', shape: 'area' },
      { name: 'costPerHourOnDemand', label: 'the same nodes on on-demand', look: 'ink', shape: 'line' },
    ],
  },
  {
    title: 'CPU',
    unit: 'cores',
    scale: 1 / 1000,
    lines: [
      { name: 'cpuRequested', label: 'requested', look: 'demand', shape: 'area' },
      { name: 'cpuUsed', label: 'used', look: 'warn', shape: 'line' },
      { name: 'cpuAllocatable', label: 'allocatable', look: 'ink', shape: 'line' },
    ],
  },
];

const lanes: readonly (Omit<PlotLane, 'counts'> & { readonly name: SeriesName })[] = [
  { name: 'interruptions', label: 'interruptions', look: 'warn' },
  { name: 'nodesLost', label: 'nodes lost', look: 'harm' },
  { name: 'oomKills', label: 'OOM kills', look: 'harm' },
  { name: 'evictions', label: 'evictions', look: 'demand' },
  { name: 'fallbacks', label: 'fallbacks', look: 'demand' },
  { name: 'resizes', label: 'resizes', look: 'spot' },
  { name: 'retemplates', label: 'new templates', look: 'spot' },
  { name: 'rollouts', label: 'rollouts', look: 'plain' },
];

/** Runs share their axes, so that what is higher on the page was more. */
export function plotSections(runs: readonly PlottedRun[]): readonly PlotSection[] {
  const untilMillis = Math.max(0, ...runs.map(({ series }) => series.endMillis.at(-1) ?? 0));
  const sections = plots.map((spec): PlotSection => {
    const drawn = runs.map(({ series }) => linesOf(series, spec));
    const most = Math.max(...drawn.map(highestOf));
    return {
      title: spec.title,
      figures: runs.map((run, index) => lineFigure(run, { spec, lines: drawn[index] ?? [], most, untilMillis })),
    };
  });
  return [...sections, { title: 'Disruptions', figures: runs.map((run) => laneFigure(run, untilMillis)) }];
}

function linesOf(series: SimulationSeries, { lines, scale = 1 }: PlotSpec): PlotLine[] {
  return lines.flatMap(({ name, ...line }) => {
    const values = series[name];
    return values === undefined ? [] : [{ ...line, values: values.map((value) => value * scale) }];
  });
}

interface DrawnLines {
  readonly spec: PlotSpec;
  readonly lines: readonly PlotLine[];
  readonly most: number;
  readonly untilMillis: number;
}

function lineFigure({ name, series }: PlottedRun, { spec, lines, most, untilMillis }: DrawnLines): string {
  const { title, unit } = spec;
  const description = lines
    .map(
      ({ label, values }) => `${label}: from ${amount(Math.min(...values))} to ${amount(Math.max(...values))} ${unit}`,
    )
    .join('; ');
  const full = `${title} of ${name}`;
  const frame = { id: idOf(full), title: full, description, endMillis: series.endMillis, untilMillis };
  const keys = lines.map(({ label, look, shape }) => legendItem(label, look, shape));
  return figure(full, keys, linePlot(frame, lines, most, amount), { columns: lines, series, unit });
}

function laneFigure({ name, series }: PlottedRun, untilMillis: number): string {
  const drawn = lanes
    .map(({ name: of, ...lane }) => ({ ...lane, counts: series[of] ?? [] }))
    .filter(({ counts }) => counts.some((count) => count > 0));
  const full = `Disruptions of ${name}`;
  if (drawn.length === 0)
    return `<figure class="card"><h3>${escapeMarkup(full)}</h3><p>Nothing was moved, resized, lost or killed.</p></figure>`;
  const totals = drawn.map(({ label, counts }) => `${label}: ${counts.reduce((sum, count) => sum + count, 0)}`);
  const description = totals.join('; ');
  const frame = { id: idOf(full), title: full, description, endMillis: series.endMillis, untilMillis };
  const keys = totals.map((text, index) => legendItem(text, drawn[index]?.look ?? '', 'area'));
  const columns = drawn.map(({ label, counts }) => ({ label, values: counts }));
  return figure(full, keys, lanePlot(frame, drawn), { columns, series, unit: 'each' });
}

interface FigureTable {
  readonly columns: readonly Pick<PlotLine, 'label' | 'values'>[];
  readonly series: SimulationSeries;
  readonly unit: string;
}

function figure(title: string, keys: readonly string[], plot: string, { columns, series, unit }: FigureTable): string {
  const rows = series.endMillis.map(
    (end, index) =>
      `<tr><th scope="row" class="number">${timeText(end)}</th>${columns
        .map(({ values }) => `<td class="number">${amount(values[index] ?? 0)}</td>`)
        .join('')}</tr>`,
  );
  const heads = columns.map(({ label }) => `<th scope="col" class="number">${escapeMarkup(label)}</th>`).join('');
  const label = escapeMarkup(title);
  return `<figure class="card"><h3>${label}</h3>
<ul class="legend">${keys.join('')}</ul>
<div class="wide" role="region" aria-label="${label}" tabindex="0">${plot}</div>
<details><summary>${label} in figures: ${counted(rows.length, 'row')}, ${unit}</summary>
<div class="wide" role="region" aria-label="${label}, figures" tabindex="0"><table><thead><tr><th scope="col" class="number">until</th>${heads}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></details></figure>`;
}

function legendItem(label: string, look: string, shape: PlotLine['shape']): string {
  return `<li><span class="key ${look}${shape === 'line' ? ' thin' : ''}"></span>${escapeMarkup(label)}</li>`;
}

/** Without spaces, and different for different texts. */
function idOf(text: string): string {
  return `plot-${encodeURIComponent(text.toWellFormed())}`;
}

/** As many digits as a reader wants: 12,345, 61.3, 0.042. */
function amount(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

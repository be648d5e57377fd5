/** Plots over the time of a simulation as inline SVG: no script, colours by classes of the page, and words for who cannot see them. */
import { escapeMarkup } from '../../lib/escape-markup.ts';
import { areaPath, linePath, type PlotPoint } from '../../lib/svg-path.ts';

export interface PlotLine {
  readonly label: string;
  /** Class that colours it. */
  readonly look: string;
  /** One a span. */
  readonly values: readonly number[];
  /** An area lies on the areas before it; lines are drawn over all areas. */
  readonly shape: 'area' | 'line';
}

export interface PlotLane {
  readonly label: string;
  readonly look: string;
  /** How often in each span. */
  readonly counts: readonly number[];
}

export interface PlotFrame {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  /** What there is to see, in words. */
  readonly description: string;
  /** Ends of the spans; the first begins at 0. */
  readonly endMillis: readonly number[];
  /** Where the time axis ends. */
  readonly untilMillis: number;
}

const WIDTH = 860;
const LEFT = 116;
const RIGHT = 26;
const TOP = 10;
const BODY = 170;
const AXIS = 24;
const LANE = 26;
const HOUR = 3_600_000;
/** Distances of ticks that people count in, in milliseconds. */
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * 1000,
);
const MOST_TICKS = 13;

/** Highest value that is drawn, areas on each other. At least 0. */
export function highestOf(lines: readonly PlotLine[]): number {
  const tops = [...lines.filter(({ shape }) => shape === 'line').map(({ values }) => values), ...stacked(lines)];
  return tops.reduce((most, values) => values.reduce((max, value) => Math.max(max, value), most), 0);
}

/** @param most of the axis; plots with one `most` can be compared. */
export function linePlot(
  frame: PlotFrame,
  lines: readonly PlotLine[],
  most: number,
  format: (value: number) => string,
): string {
  const step = niceStep(most / 4);
  const top = Math.max(step, Math.ceil(most / step - 1e-9) * step);
  const y = (value: number): number => TOP + BODY - (value / top) * BODY;
  const corners = (values: readonly number[]): PlotPoint[] =>
    values.flatMap((value, index): PlotPoint[] => [
      [xOf(frame.endMillis[index - 1] ?? 0, frame), y(value)],
      [xOf(frame.endMillis[index] ?? 0, frame), y(value)],
    ]);
  const areas = lines.filter(({ shape }) => shape === 'area');
  const tops = stacked(lines);
  const parts = [
    ...Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step).map((value) => {
      const at = y(value).toFixed(1);
      return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/><text x="${LEFT - 8}" y="${at}" dy="4" text-anchor="end">${escapeMarkup(format(value))}</text>`;
    }),
    ...areas.map(({ look }, index) => {
      const below = index === 0 ? (tops[0] ?? []).map(() => 0) : (tops[index - 1] ?? []);
      return `<path class="area ${look}" d="${areaPath(corners(tops[index] ?? []), corners(below))}"/>`;
    }),
    ...lines
      .filter(({ shape }) => shape === 'line')
      .map(({ look, values }) => `<path class="line ${look}" d="${linePath(corners(values))}"/>`),
  ];
  return picture(frame, BODY, parts);
}

/** A lane for each kind; what happened is a mark in it, the higher the more. */
export function lanePlot(frame: PlotFrame, lanes: readonly PlotLane[]): string {
  const parts = lanes.flatMap(({ label, look, counts }, lane) => {
    const base = TOP + (lane + 1) * LANE - 4;
    const most = Math.max(1, ...counts);
    const marks = counts.flatMap((count, index) => {
      if (count === 0) return [];
      const [from, to] = [frame.endMillis[index - 1] ?? 0, frame.endMillis[index] ?? 0];
      const height = 8 + ((LANE - 14) * count) / most;
      const width = Math.max(3, xOf(to, frame) - xOf(from, frame));
      const told = `${label}: ${count}, ${timeText(from)} to ${timeText(to)}`;
      return `<rect class="mark ${look}" x="${xOf(from, frame).toFixed(1)}" y="${(base - height).toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}"><title>${escapeMarkup(told)}</title></rect>`;
    });
    return [
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${base}" y2="${base}"/><text x="${LEFT - 8}" y="${base - 3}" text-anchor="end">${escapeMarkup(label)}</text>`,
      ...marks,
    ];
  });
  return picture(frame, lanes.length * LANE, parts);
}

function picture(frame: PlotFrame, body: number, parts: readonly string[]): string {
  const { id, title, description, untilMillis } = frame;
  const [height, bottom] = [TOP + body + AXIS, TOP + body];
  const ticks = timeTicks(untilMillis).map((at) => {
    const x = xOf(at, frame).toFixed(1);
    return `<line class="grid" x1="${x}" x2="${x}" y1="${TOP}" y2="${bottom + 4}"/><text x="${x}" y="${bottom + 18}" text-anchor="middle">${timeText(at)}</text>`;
  });
  return [
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}-title ${id}-desc">`,
    `<title id="${id}-title">${escapeMarkup(title)}</title>`,
    `<desc id="${id}-desc">${escapeMarkup(description)}</desc>`,
    ...ticks,
    ...parts,
    '</svg>',
  ].join('\n');
}

const xOf = (millis: number, { untilMillis }: PlotFrame): number =>
  LEFT + (WIDTH - LEFT - RIGHT) * (untilMillis === 0 ? 0 : millis / untilMillis);

/** Tops of the areas, each with all that lie below it. */
function stacked(lines: readonly PlotLine[]): number[][] {
  const tops: number[][] = [];
  for (const { shape, values } of lines) {
    if (shape !== 'area') continue;
    const below = tops.at(-1);
    tops.push(values.map((value, index) => value + (below?.[index] ?? 0)));
  }
  return tops;
}

/** 1, 2 or 5 times a power of ten, not below `least`. */
export function niceStep(least: number): number {
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10);
}

export function timeTicks(untilMillis: number): number[] {
  const days = Math.ceil(untilMillis / (24 * HOUR) / MOST_TICKS) * 24 * HOUR;
  const step = TIME_STEPS.find((each) => untilMillis / each <= MOST_TICKS) ?? days;
  return Array.from({ length: Math.floor(untilMillis / step) + 1 }, (_, index) => index * step);
}

/** Since the beginning: `0:05:30`, `14:00`, `2d 06:00`. Seconds only where there are some. */
export function timeText(millis: number): string {
  const seconds = Math.round(millis / 1000);
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  const two = (value: number): string => String(value).padStart(2, '0');
  const rest = seconds % 60 === 0 ? '' : `:${two(seconds % 60)}`;
  return `${days === 0 ? '' : `${days}d `}${days === 0 ? hours : two(hours)}:${two(minutes)}${rest}`;
}

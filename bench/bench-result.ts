/** What a benchmark reports: figures, the bars they are held to, and how both are printed. */

export interface Bar {
  /** Name of the figure the bar is for. */
  readonly key: string;
  readonly op: '<=' | '>=' | '==';
  readonly value: number;
}

export interface BenchResult {
  readonly name: string;
  /**
   * Unit in the key: `..._ms`, `..._mb`, `..._per_second`, `..._ratio`. Null is what JSON makes of NaN and infinities:
   * a figure that could not be measured.
   */
  readonly figures: Readonly<Record<string, number | null>>;
  readonly bars: readonly Bar[];
}

export interface CheckedBar extends Bar {
  readonly ok: boolean;
}

/** Undefined for one that was not measured. Null is not 0, though JavaScript compares it as if it were. */
function measured({ figures }: BenchResult, key: string): number | undefined {
  const figure = figures[key];
  return figure !== null && Number.isFinite(figure) ? figure : undefined;
}

/** A figure that was not measured fails its bar. */
export function checkBars(result: BenchResult): CheckedBar[] {
  return result.bars.map((bar) => {
    const figure = measured(result, bar.key);
    if (figure === undefined) return { ...bar, ok: false };
    const ok = bar.op === '<=' ? figure <= bar.value : bar.op === '>=' ? figure >= bar.value : figure === bar.value;
    return { ...bar, ok };
  });
}

/**
 * How far a figure is beyond its bar: above 1 falls short, the largest is the worst. An exact bar holds (0) or not
 * (infinity).
 */
export function shortfall(result: BenchResult, bar: Bar): number {
  const figure = measured(result, bar.key);
  if (figure === undefined) return Number.POSITIVE_INFINITY;
  if (bar.op === '==') return figure === bar.value ? 0 : Number.POSITIVE_INFINITY;
  return bar.op === '<=' ? figure / bar.value : bar.value / figure;
}

/** Whole numbers as they are, others with three digits that count. */
export function formatFigure(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return 'not measured';
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** For people: a line a figure, beside it its bar and whether it holds. */
export function renderResult(result: BenchResult): string {
  const bars = new Map(checkBars(result).map((bar) => [bar.key, bar]));
  const width = Math.max(...Object.keys(result.figures).map((key) => key.length));
  const lines = Object.entries(result.figures).map(([key, value]) => {
    const bar = bars.get(key);
    const verdict = bar === undefined ? '' : `  bar ${bar.op} ${bar.value}: ${bar.ok ? 'ok' : 'SHORT'}`;
    return `  ${key.padEnd(width)}  ${formatFigure(value).padStart(9)}${verdict}`;
  });
  return [`${result.name}`, ...lines].join('\n');
}

/**
 * The value below which `fraction` (0..1) of the samples lie; samples need not be sorted.
 * @throws Error without samples.
 */
export function quantile(samples: readonly number[], fraction: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))];
  if (value === undefined) throw new Error('quantile of no samples');
  return value;
}

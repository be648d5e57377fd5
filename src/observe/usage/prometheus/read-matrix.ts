/** Reads the answer of a range query, leniently: what can be read is taken, what cannot is told. */
import type { UsagePoint } from '../../../model/usage-series.ts';
import type { LabelNames } from './promql.ts';

export interface MatrixSeries {
  readonly pod: string;
  readonly container: string;
  /** Finite numbers at or above 0, in order of time, one an instant. */
  readonly points: readonly UsagePoint<number>[];
}

export type MatrixAnswer =
  | { readonly ok: true; readonly series: readonly MatrixSeries[]; readonly warnings: readonly string[] }
  /** The source's own sentence, where there was one. */
  | { readonly ok: false; readonly kind: 'error' | 'malformed'; readonly message: string };

/** Instants beyond this are milliseconds, not seconds: year 5138. */
const SECONDS_BELOW = 1e11;
const MAX_QUOTE = 300;
const MAX_WARNINGS = 5;

/** Reads the answer to a range query. Never throws: what is not a matrix is told as malformed, with a bounded quote. */
export function readMatrix(answer: unknown, names: LabelNames): MatrixAnswer {
  if (!isObject(answer)) return { ok: false, kind: 'malformed', message: 'the answer is not a JSON object' };
  if (answer['status'] === 'error') return { ok: false, kind: 'error', message: errorText(answer) };
  const { data } = answer;
  // Some proxies hand on the data alone.
  const body = isObject(data) ? data : answer;
  const result = body['result'];
  if (result !== null && !Array.isArray(result)) {
    return { ok: false, kind: 'malformed', message: 'the answer has no data.result' };
  }
  const warnings = [...texts(answer['warnings']), ...texts(answer['infos'])];
  // VictoriaMetrics' cluster version, when storage nodes are down.
  if (answer['isPartial'] === true) warnings.push('the answer is partial: some of the storage did not answer');
  const merged = new Map<string, { readonly pod: string; readonly container: string; points: UsagePoint<number>[] }>();
  let unreadable = 0;
  for (const item of result ?? []) {
    const series = readSeries(item, names);
    if (series === undefined) {
      unreadable++;
      continue;
    }
    const key = `${series.pod}/${series.container}`;
    const known = merged.get(key);
    if (known === undefined) merged.set(key, series);
    else known.points = known.points.concat(series.points);
  }
  if (unreadable > 0)
    warnings.push(
      `${unreadable} series without the labels ${names.pod} and ${names.container}, or without values, were left out`,
    );
  const series = [...merged.values()].map(({ pod, container, points }) => ({
    pod,
    container,
    points: inOrder(points),
  }));
  return { ok: true, series, warnings: warnings.slice(0, MAX_WARNINGS) };
}

function readSeries(item: unknown, names: LabelNames) {
  if (!isObject(item)) return undefined;
  const labels = isObject(item['metric']) ? item['metric'] : {};
  const pod = labels[names.pod];
  const container = labels[names.container];
  if (typeof pod !== 'string' || typeof container !== 'string' || pod === '' || container === '') return undefined;
  // `value` where it was asked for one instant.
  const values = Array.isArray(item['values'])
    ? item['values']
    : Array.isArray(item['value'])
      ? [item['value']]
      : undefined;
  if (values === undefined) return undefined;
  const points: UsagePoint<number>[] = [];
  for (const pair of values) {
    if (!Array.isArray(pair)) continue;
    const seconds = numberOf(pair[0]);
    const value = numberOf(pair[1]);
    // NaN stands for "unknown" (0/0, staleness); a negative rate is a fault of the source.
    if (!Number.isFinite(seconds) || seconds < 0 || !Number.isFinite(value) || value < 0) continue;
    points.push({ at: Math.round(seconds < SECONDS_BELOW ? seconds * 1000 : seconds), value });
  }
  return { pod, container, points };
}

/** Values come as text, `"NaN"` and `"+Inf"` included. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}

/** Sorted, and the highest of those of one instant. */
function inOrder(points: UsagePoint<number>[]): UsagePoint<number>[] {
  const isSorted = points.every(({ at }, index) => index === 0 || at > (points[index - 1]?.at ?? at));
  if (isSorted) return points;
  const highest = new Map<number, number>();
  for (const { at, value } of points) highest.set(at, Math.max(value, highest.get(at) ?? 0));
  return [...highest].sort(([a], [b]) => a - b).map(([at, value]) => ({ at, value }));
}

function errorText(answer: Readonly<Record<string, unknown>>): string {
  const { error, errorType, message } = answer;
  const text = [errorType, error ?? message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  return cleaned(text) || 'no reason was given';
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string').map(cleaned) : [];
}

/** One printable line: the text comes from outside and goes to logs and status. */
export function cleaned(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}...` : line;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

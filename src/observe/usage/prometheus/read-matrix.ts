/** Reads the answer of a range query, leniently: what can be read is taken, what cannot is told. */
import { isRecord } from '../../../lib/is-record.ts';
import type { UsagePoint } from '../../../model/usage-series.ts';
import type { LabelNames } from './promql.ts';
import { cleaned, numberOf, resultOf, type UnreadableAnswer } from './read-answer.ts';

/** Series of one container that the answer had several of are one here. */
export interface MatrixSeries {
  readonly pod: string;
  readonly container: string;
  /** Finite numbers at or above 0, in order of time, one an instant. */
  readonly points: readonly UsagePoint<number>[];
}

/** Warnings are at most five, each one printable line. */
export type MatrixAnswer =
  | UnreadableAnswer
  | { readonly ok: true; readonly series: readonly MatrixSeries[]; readonly warnings: readonly string[] };

/** Instants beyond this are milliseconds, not seconds: year 5138. */
const SECONDS_BELOW = 1e11;
const MAX_WARNINGS = 5;

/** Reads the answer to a range query. Never throws: what is not a matrix is told as malformed, with a bounded quote. */
export function readMatrix(given: unknown, names: LabelNames): MatrixAnswer {
  const read = resultOf(given, errorText);
  if (!read.ok) return read;
  const { answer, result } = read;
  const warnings = [...texts(answer['warnings']), ...texts(answer['infos'])];
  // VictoriaMetrics' cluster version, when storage nodes are down.
  if (answer['isPartial'] === true) warnings.push('the answer is partial: some of the storage did not answer');
  const merged = new Map<string, { readonly pod: string; readonly container: string; points: UsagePoint<number>[] }>();
  let unreadable = 0;
  for (const item of result) {
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

/** Undefined for a series that does not say whose it is. */
function readSeries(item: unknown, names: LabelNames) {
  if (!isRecord(item)) return undefined;
  const labels = isRecord(item['metric']) ? item['metric'] : {};
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
  return [errorType, error ?? message].filter((part) => typeof part === 'string' && part !== '').join(': ');
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string').map(cleaned) : [];
}

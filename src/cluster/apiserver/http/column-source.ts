/** A column of a server-side table, how columns are made, and the ages that cells show. */
import { type Json, numberAt, objectsAt, stringAt, textOf } from '../json.ts';
import type { ApiObject } from '../served-type.ts';

export type Cell = (object: ApiObject, nowMillis: number) => Json;

/** A column of the table source: name, cell, and whether only `-o wide` shows it. */
export interface ColumnSource {
  readonly name: string;
  readonly cell: Cell;
  readonly wide?: boolean;
  readonly integer?: boolean;
}

/** Age as kubectl prints durations: 59s, 5m30s, 3h10m, 2d4h, 9d. Source: apimachinery pkg/util/duration. */
export function humanDuration(millis: number): string {
  const seconds = Math.floor(millis / 1_000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  if (days < 2_920) return days % 365 === 0 ? `${years}y` : `${years}y${days % 365}d`;
  return `${years}y`;
}

/** How long ago `timestamp` was, or `<unknown>`. */
export function ageOf(timestamp: string | undefined, nowMillis: number): string {
  return timestamp === undefined ? '<unknown>' : humanDuration(nowMillis - Date.parse(timestamp));
}

export const column = (name: string, cell: Cell): ColumnSource => ({ name, cell });
export const wide = (name: string, cell: Cell): ColumnSource => ({ name, cell, wide: true });
export const count = (name: string, ...path: readonly string[]): ColumnSource => ({
  name,
  cell: (object) => numberAt(object, ...path) ?? 0,
  integer: true,
});

export const text =
  (fallback: string, ...path: readonly string[]): Cell =>
  (object) =>
    stringAt(object, ...path) || fallback;

export const AGE = column('Age', (object, now) => ageOf(object.metadata.creationTimestamp, now));

/** Names and images of the containers of the template at `path`. */
export function templateColumns(...path: readonly string[]): readonly ColumnSource[] {
  const all =
    (key: 'name' | 'image'): Cell =>
    (object) =>
      objectsAt(object, ...path, 'spec', 'containers')
        .map((container) => textOf(container[key]))
        .join(',');
  return [wide('Containers', all('name')), wide('Images', all('image'))];
}

/**
 * Instants as text without `toISOString` and `toUTCString`: their formatting touches another 0.8 MB of Node's binary,
 * which a small process can do without.
 */
import type { EpochMillis } from './units.ts';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

const padded = (value: number, width = 2): string => String(value).padStart(width, '0');
const timeOfDay = (date: Date): string =>
  `${padded(date.getUTCHours())}:${padded(date.getUTCMinutes())}:${padded(date.getUTCSeconds())}`;

/** As `toISOString`: `2026-01-31T08:05:09.007Z`. @param at in the years 0 to 9999. */
export function isoText(at: EpochMillis): string {
  const date = new Date(at);
  const day = `${padded(date.getUTCFullYear(), 4)}-${padded(date.getUTCMonth() + 1)}-${padded(date.getUTCDate())}`;
  return `${day}T${timeOfDay(date)}.${padded(date.getUTCMilliseconds(), 3)}Z`;
}

/** As `toUTCString`, the form of HTTP headers: `Sat, 31 Jan 2026 08:05:09 GMT`. @param at in the years 0 to 9999. */
export function httpDate(at: EpochMillis): string {
  const date = new Date(at);
  const month = MONTHS[date.getUTCMonth()] ?? '';
  const day = `${DAYS[date.getUTCDay()] ?? ''}, ${padded(date.getUTCDate())} ${month} ${padded(date.getUTCFullYear(), 4)}`;
  return `${day} ${timeOfDay(date)} GMT`;
}

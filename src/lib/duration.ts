/** Durations as Go writes them: `1h30m`, `10s`, `500ms`. */
import { InvalidValueError } from './errors.ts';
import type { Millis } from './units.ts';

/** For messages: what a duration looks like. */
export const DURATION_ACCEPTED = 'a duration such as 30s, 10m, 1h30m or 500ms (units h, m, s, ms, us, ns)';

const unitMillis: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['\u00b5s', 1e-3], // micro sign
  ['\u03bcs', 1e-3], // Greek letter mu
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
/** One number with its unit; `ms` before `m` and `s`, or it would be read as minutes. */
const TERM = /(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;
/** Go holds durations as 64-bit nanoseconds, about 292 years. */
const MAX_MILLIS = Number(2n ** 63n / 1_000_000n);

/**
 * Reads a duration by the grammar of Go's time.ParseDuration: signed, decimal numbers with units, or a bare `0`.
 * @returns milliseconds, with a fraction where the text is finer; negative for a leading minus.
 * @throws InvalidValueError for anything else, a number without unit included.
 */
export function parseDuration(text: string): Millis {
  const [, sign = '', body = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (body === '0') return 0;
  const terms = [...body.matchAll(TERM)];
  const covered = terms.reduce((length, term) => length + term[0].length, 0);
  if (terms.length === 0 || covered !== body.length) throw new InvalidValueError('duration', text, DURATION_ACCEPTED);

  const millis = terms.reduce(
    (sum, [, amount = '', unit = '']) => sum + Number(amount) * (unitMillis.get(unit) ?? 0),
    0,
  );
  if (millis > MAX_MILLIS) throw new InvalidValueError('duration', text, 'a duration of at most 292 years');
  return sign === '-' && millis !== 0 ? -millis : millis;
}

/** The shortest text that {@link parseDuration} reads back: `1h30m`, `1m29.5s`, `250ms`, `0s`. */
export function formatDuration(millis: Millis): string {
  if (millis < 0) return `-${formatDuration(Math.abs(millis))}`;
  if (millis === 0) return '0s';
  if (millis < 1000) return `${millis}ms`;
  const hours = Math.floor(millis / 3_600_000);
  const minutes = Math.floor((millis % 3_600_000) / 60_000);
  const seconds = (millis % 60_000) / 1000;
  return [hours > 0 ? `${hours}h` : '', minutes > 0 ? `${minutes}m` : '', seconds > 0 ? `${seconds}s` : ''].join('');
}

/** The two instants of `stowage journal`, as people write them at night. */
import { parseDuration } from '../../lib/duration.ts';
import { InvalidValueError } from '../../lib/errors.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { UsageError } from '../cli-error.ts';

export interface TimeRange {
  readonly from: EpochMillis | undefined;
  readonly to: EpochMillis | undefined;
}

const ACCEPTED = '02:00 (UTC), 2026-11-29T02:00:00Z, or how long ago, such as 90m';
const DAY = 24 * 3_600_000;

/**
 * A time of day is the last one before now; as the end of a range, the first one after its beginning.
 * @throws UsageError for what is no time, and for a range that ends before it begins.
 */
export function parseTimeRange(given: { from?: string; to?: string }, now: EpochMillis): TimeRange {
  const from = given.from === undefined ? undefined : parseInstant('--from', given.from, now);
  if (given.to === undefined) return { from, to: undefined };
  const instant = parseInstant('--to', given.to, now);
  const isNextDay = from !== undefined && instant < from && isTimeOfDay(given.to);
  const to = isNextDay ? instant + DAY : instant;
  if (from !== undefined && to < from) {
    throw new UsageError(`--to ${given.to} (${textOf(to)}) is before --from ${given.from} (${textOf(from)})`);
  }
  return { from, to };
}

const isTimeOfDay = (text: string): boolean => /^\d\d?:\d\d(?::\d\d)?$/.test(text);
const textOf = (at: EpochMillis): string => new Date(at).toISOString();

function parseInstant(option: string, text: string, now: EpochMillis): EpochMillis {
  const refuse = (): never => {
    throw new UsageError(`${option} ${JSON.stringify(text)} is no time; write ${ACCEPTED}`);
  };
  if (isTimeOfDay(text)) {
    const time = text.indexOf(':') === 1 ? `0${text}` : text;
    const at = Date.parse(`${textOf(now).slice(0, 10)}T${time}Z`);
    if (Number.isNaN(at)) return refuse();
    return at > now ? at - DAY : at;
  }
  if (/^\d{4}-\d\d-\d\d/.test(text)) {
    const hasZone = text.length === 10 || /T.*(?:Z|[+-]\d\d:?\d\d)$/.test(text);
    const at = Date.parse(hasZone ? text : `${text.replace(' ', 'T')}Z`);
    return Number.isNaN(at) ? refuse() : at;
  }
  try {
    return now - Math.abs(parseDuration(text));
  } catch (error) {
    if (error instanceof InvalidValueError) return refuse();
    throw error;
  }
}

/** The instant a line of a recording begins with. Recordings have millions of lines, so a day is worked out once. */
import type { EpochMillis } from '../../lib/units.ts';

const ISO = /^(\d{4}-\d\d-\d\d)[ T](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?(Z|[+-]\d\d:?\d\d)?$/;
/** Seconds or milliseconds since 1970, as metrics are exported; between them, 9 and 13 digits are of our time. */
const EPOCH = /^\d{9,13}(?:\.\d+)?$/;
const MILLIS_FROM = 1e11;
const MINUTE = 60_000;
const [HOURS, MINUTES] = [24, 60];

/** @returns a function that reads a date and time (UTC unless it says otherwise) or an epoch; undefined for anything else. */
export function createInstantReader(): (text: string) => EpochMillis | undefined {
  let day = '';
  let dayStart: EpochMillis = Number.NaN;
  return (text) => {
    const parts = ISO.exec(text);
    if (parts === null) return EPOCH.test(text) ? epochMillis(Number(text)) : undefined;
    const [, date = '', hours = '', minutes = '', seconds = '0', zone] = parts;
    if (date !== day) {
      day = date;
      dayStart = startOfDay(date);
    }
    const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
    if (Number.isNaN(dayStart) || hour >= HOURS || minute >= MINUTES || second >= MINUTES) return undefined;
    const local = dayStart + (hour * MINUTES + minute) * MINUTE + Math.round(second * 1000);
    const offset = zone === undefined || zone === 'Z' ? 0 : offsetOf(zone);
    return offset === undefined ? undefined : local - offset;
  };
}

const epochMillis = (value: number): EpochMillis => Math.round(value >= MILLIS_FROM ? value : value * 1000);

/** NaN for a day that does not exist: the 31st of a short month would else be the first of the next. */
function startOfDay(date: string): EpochMillis {
  const start = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(start) || new Date(start).toISOString().startsWith(date) ? start : Number.NaN;
}

function offsetOf(zone: string): number | undefined {
  const digits = zone.replace(/\D/g, '');
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))];
  if (hours >= HOURS || minutes >= MINUTES) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * MINUTES + minutes) * MINUTE;
}

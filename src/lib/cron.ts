/**
 * Cron schedules by the grammar of robfig/cron v3 with five fields, which Spotalis and Karpenter use; croner does the
 * calendar.
 *
 * `minute hour day-of-month month day-of-week`, each `*` or `?`, a number, a range `a-b`, either with `/step`, or a
 * list of these. Months and days of the week may be names. Days of the week are 0-6; ranges do not wrap. When both day
 * fields are restricted a day matching either is meant; `*` and `*` with step 1 do not restrict, but a step of two and
 * more does. A prefix `CRON_TZ=Area/City ` (or `TZ=`) gives the time zone, otherwise it is UTC.
 */
import { Cron } from 'croner';
import { InvalidValueError } from './errors.ts';
import type { EpochMillis } from './units.ts';

/** Instants are whole seconds. Undefined answers mean that there is none within croner's horizon. */
export interface CronSchedule {
  /** The text it was read from. */
  readonly text: string;
  readonly timeZone: string;
  /** The first occurrence strictly after `instant`. */
  nextAfter(instant: EpochMillis): EpochMillis | undefined;
  /** The last occurrence at or before `instant`. */
  latestAt(instant: EpochMillis): EpochMillis | undefined;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Lower-case names; the first stands for `min`. */
  readonly names: readonly string[];
}

interface FieldValues {
  /** Written so that it does not restrict the field. */
  readonly star: boolean;
  readonly values: ReadonlySet<number>;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const fields: readonly Field[] = [
  { name: 'minute', min: 0, max: 59, names: [] },
  { name: 'hour', min: 0, max: 23, names: [] },
  { name: 'day of month', min: 1, max: 31, names: [] },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'day of week', min: 0, max: 6, names: DAYS },
];
const HOUR = fields.findIndex(({ name }) => name === 'hour');
const HOURS_A_DAY = 24;
/** In some year: February has 29 days. */
const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** For messages: what a schedule looks like. */
export const CRON_ACCEPTED =
  'five cron fields "minute hour day-of-month month day-of-week", such as "0 2 * * 1-5", optionally after "CRON_TZ=Area/City "';

/**
 * Reads a schedule.
 *
 * Daylight saving: a time of day that the clocks skip in spring occurs at the first instant after the gap, unless that is
 * another day already (in Greenland they go from 23:00 to midnight), and one they show twice in autumn occurs the first
 * time only. (robfig/cron drops the former and repeats the latter.) Schedules of
 * every hour have no times of day, and go on with the hours that pass.
 * @throws InvalidValueError naming the field; also for dates that never come, such as 31 February.
 */
export function parseCron(text: string): CronSchedule {
  const { timeZone, rest } = splitTimeZone(text.trim());
  const parts = rest.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== fields.length) throw new InvalidValueError('cron schedule', text, CRON_ACCEPTED);

  const parsed = fields.map((field, index) => parseField(text, parts[index] ?? '', field));
  const [, , days, months, weekdays] = parsed;
  if (days && months && weekdays && neverComes(days, months, weekdays)) {
    throw new InvalidValueError('cron schedule', text, 'a date that exists in some year');
  }
  // Without a wildcard in minutes and hours all are times of day to croner.
  const cron = new Cron(patternOf(parsed), {
    mode: '5-part',
    paused: true,
    timezone: timeZone,
    fixedTimeRule: 'no-wildcard',
  });
  return {
    text,
    timeZone,
    nextAfter: (instant) => cron.nextRun(new Date(wholeSecond(instant)))?.getTime(),
    // croner looks strictly before its reference.
    latestAt: (instant) => cron.previousRuns(1, new Date(wholeSecond(instant) + 1000))[0]?.getTime(),
  };
}

/**
 * Plain lists, so that what croner makes of the other forms does not matter: but for the hours, where a wildcard says
 * that the schedule is not of times of day, and the days, where it does not restrict.
 */
function patternOf(parsed: readonly FieldValues[]): string {
  return parsed
    .map(({ star, values }, index) => {
      const isWild = index === HOUR ? values.size === HOURS_A_DAY : star && index > HOUR;
      return isWild ? '*' : [...values].sort((a, b) => a - b).join(',');
    })
    .join(' ');
}

/** Occurrences are whole seconds, so a fraction of one changes nothing. */
function wholeSecond(instant: EpochMillis): EpochMillis {
  return Math.floor(instant / 1000) * 1000;
}

function splitTimeZone(text: string): { timeZone: string; rest: string } {
  const match = /^(?:CRON_)?TZ=(\S*)(.*)$/s.exec(text);
  if (match === null) return { timeZone: 'UTC', rest: text };
  const [, timeZone = '', rest = ''] = match;
  if (!isTimeZone(timeZone)) {
    throw new InvalidValueError(
      'time zone of a cron schedule',
      text,
      'a time zone of the IANA database, such as Europe/Berlin',
    );
  }
  return { timeZone, rest };
}

function isTimeZone(name: string): boolean {
  // Intl also takes offsets such as +01:00, which Go does not.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return true;
  } catch {
    return false;
  }
}

/** @throws InvalidValueError naming the field and what it takes. */
function parseField(text: string, part: string, field: Field): FieldValues {
  const refuse = (): never => {
    const named =
      field.names.length > 0 ? ` or ${field.names[0]}-${field.names.at(-1)}`.toUpperCase().replace('OR', 'or') : '';
    const accepted = `*, ?, numbers ${field.min}-${field.max}${named}, ranges from low to high, steps such as */5, or a list of these`;
    throw new InvalidValueError(`cron schedule, ${field.name} ${JSON.stringify(part)}`, text, accepted);
  };
  const number = (word: string): number => {
    const named = field.names.indexOf(word.toLowerCase());
    if (named >= 0) return field.min + named;
    const value = /^\d{1,4}$/.test(word) ? Number(word) : Number.NaN;
    return value >= field.min && value <= field.max ? value : refuse();
  };

  let star = false;
  const values = new Set<number>();
  for (const item of part.split(',')) {
    const [range = '', stepText, ...excess] = item.split('/');
    const step = stepText === undefined ? 1 : /^\d{1,4}$/.test(stepText) ? Number(stepText) : 0;
    if (excess.length > 0 || step === 0) refuse();
    let [low, high] = [field.min, field.max];
    if (range === '*' || range === '?') {
      if (step === 1) star = true;
    } else {
      const [from = '', to, ...more] = range.split('-');
      if (more.length > 0) refuse();
      low = number(from);
      // `5/15` means from 5 to the end in steps of 15; `5` means 5 alone.
      high = to !== undefined ? number(to) : stepText !== undefined ? field.max : low;
      if (low > high) refuse();
    }
    for (let value = low; value <= high; value += step) values.add(value);
  }
  return { star, values };
}

/** True when only days of the month count and no chosen month is long enough for any of them. */
function neverComes(days: FieldValues, months: FieldValues, weekdays: FieldValues): boolean {
  if (!weekdays.star) return false;
  const firstDay = Math.min(...days.values);
  return [...months.values].every((month) => (LONGEST_MONTHS[month - 1] ?? 0) < firstDay);
}

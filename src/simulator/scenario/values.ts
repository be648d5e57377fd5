/** The values scenarios are written in: times, rates of interruption, amounts, shares. Text in, numbers out, or why not. */
import * as z from 'zod';
import { parseDuration } from '../../lib/duration.ts';
import { parseQuantity, toBytes, toMillicores } from '../../lib/quantity.ts';
import type { Millis } from '../../lib/units.ts';

const HOUR_MILLIS: Millis = 3_600_000;
const DAY_MILLIS: Millis = 24 * HOUR_MILLIS;
/** Of an average month: 365.25 days in twelve parts. */
const HOURS_PER_MONTH = 730.5;

/** A field written as text, or as a number where YAML reads one. */
function written<T>(accepted: string, read: (text: string) => T | undefined) {
  const error: z.core.$ZodErrorMap = ({ input }) =>
    input === undefined ? `is missing; give ${accepted}` : `should be ${accepted}`;
  return z.union([z.string(), z.number()], { error }).transform((value, context) => {
    const result = attempt(() => read(String(value).trim()));
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message: `${JSON.stringify(value)} is not valid; accepted: ${accepted}` });
    return z.NEVER;
  });
}

function attempt<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** `90s`, `1h30m`, `7d`, `1d12h`; milliseconds, not negative. */
export const duration = written('a duration such as 90s, 1h30m or 7d', (text) => {
  const [, days, rest = ''] = /^(?:(\d+)d)?(.*)$/s.exec(text) ?? [];
  const millis = (days === undefined ? 0 : Number(days) * DAY_MILLIS) + (rest === '' ? 0 : parseDuration(rest));
  return text !== '' && millis >= 0 ? millis : undefined;
});

/** `30%` or `0.3`; a share in 0..1. */
export const share = written('a share such as 30% or 0.3', (text) => {
  const [, digits = '', sign] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
  const value = digits === '' ? Number.NaN : Number(digits) / (sign === '%' ? 100 : 1);
  return value >= 0 && value <= 1 ? value : undefined;
});

/**
 * How often the cloud takes a node back: a chance within an hour or a month, as one number (`7%/month`), or as a bucket of
 * the clouds' advisors (`5-10%/month`, `<5%/month`, `>20%/month`), which counts as its middle, the open one as 25 %.
 * Read as the rate of a Poisson process: expected interruptions of a node an hour.
 */
export const interruptionRate = written(
  'a chance within an hour or a month, such as 7%/month, 5-10%/month, <5%/month, >20%/month or 2%/hour; or 0',
  (text) => {
    if (text === '0') return 0;
    const [, from, to, unit] = /^([<>]?\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?%\/(hour|month)$/.exec(text) ?? [];
    if (from === undefined) return undefined;
    const percent = chanceOf(from, to);
    if (percent === undefined || percent < 0 || percent >= 100) return undefined;
    return -Math.log1p(-percent / 100) / (unit === 'hour' ? 1 : HOURS_PER_MONTH);
  },
);

function chanceOf(from: string, to: string | undefined): number | undefined {
  const number = Number(from.replace(/^[<>]/, ''));
  if (to !== undefined) return /^\d/.test(from) && Number(to) > number ? (number + Number(to)) / 2 : undefined;
  if (from.startsWith('<')) return number / 2;
  return from.startsWith('>') ? number + 5 : number;
}

export const cpu = written('an amount of CPU such as 250m or 2', (text) => toMillicores(parseQuantity(text)));
export const memory = written('an amount of memory such as 256Mi or 4Gi', (text) => toBytes(parseQuantity(text)));

/** An RFC 3339 instant; epoch milliseconds. */
export const instant = written('an instant such as 2026-06-01T00:00:00Z', (text) => {
  const millis = Date.parse(text);
  return /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(millis) ? millis : undefined;
});

/** A value of an annotation as people write it in YAML. */
export const annotationText = z.union([z.string(), z.number(), z.boolean()]).transform(String);
/** RFC 1123 label. */
export const objectName = z
  .string()
  .regex(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/, 'a name is lower-case letters, digits and dashes, at most 63');

/**
 * Texts that are alike but for their numbers, in a sixth of the memory: sentences that explain thousands of values have a
 * few hundred patterns between them.
 */
import { packDigits, unpackDigits } from './packed-digits.ts';
import { formatTime, parseTime } from './rfc3339.ts';
import type { EpochMillis } from './units.ts';
import { isoText } from './utc-text.ts';

export interface NumberedText {
  /** The text with {@link PLACE} for each number: to be kept once for all that share it. */
  readonly pattern: string;
  /** The numbers, in order and packed; undefined where the pattern is the text itself. */
  readonly numbers: string | undefined;
}

/** Stands for a number. A text that has it keeps its numbers. */
const PLACE = '\0';
/** No number has it. */
const BETWEEN = ' ';
/** A time is one number. */
const NUMBERS = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z|\d[\d.]*/g;

/** A way in which times are written, and the sign before what is kept of them: no number begins with it. */
interface TimeForm {
  readonly sign: string;
  readonly unit: number;
  readonly format: (at: EpochMillis) => string;
}

/** As Kubernetes writes them, and as JavaScript does: of 20 and 24 characters 6 and 7 are kept. */
const timeForms: readonly TimeForm[] = [
  { sign: 'T', unit: 1000, format: formatTime },
  { sign: 't', unit: 1, format: isoText },
];

/** The same text to the last character is {@link joinNumbers} of what this answers. */
export function splitNumbers(text: string): NumberedText {
  const numbers = text.includes(PLACE) ? null : text.match(NUMBERS);
  if (numbers === null) return { pattern: text, numbers: undefined };
  return { pattern: text.replace(NUMBERS, PLACE), numbers: packDigits(numbers.map(packTime).join(BETWEEN)) };
}

export function joinNumbers({ pattern, numbers }: NumberedText): string {
  if (numbers === undefined) return pattern;
  const each = unpackDigits(numbers).split(BETWEEN);
  return pattern
    .split(PLACE)
    .map((part, index) => part + unpackTime(each[index] ?? ''))
    .join('');
}

/** Days and hours that no calendar has stay as they are. */
function packTime(number: string): string {
  const at = number.endsWith('Z') ? parseTime(number) : undefined;
  const form = at === undefined ? undefined : timeForms.find(({ format }) => format(at) === number);
  return at === undefined || form === undefined ? number : `${form.sign}${at / form.unit}`;
}

function unpackTime(number: string): string {
  // Digits come before letters, and most numbers are no times.
  if (number < 'A') return number;
  const form = timeForms.find(({ sign }) => number.startsWith(sign));
  return form === undefined ? number : form.format(Number(number.slice(1)) * form.unit);
}

/**
 * A recording in lines of `timestamp,value`, read piece by piece; what cannot be used is left out and told in one line.
 */
import { InvalidValueError } from '../../lib/errors.ts';
import type { Millicores, Millis } from '../../lib/units.ts';
import { createInstantReader } from './read-instant.ts';
import { createNumberColumn, inOrderOfTime, type UsageSeries } from './usage-series.ts';

export interface CsvReader {
  /** The next piece of the file; it may end anywhere. */
  push(text: string): void;
  /**
   * @throws InvalidValueError naming file and line, when no line can be used or not even half of them begins with a
   * time.
   */
  end(): CsvRecording;
}

export interface CsvRecording {
  /** In order of time, each instant once; gaps are left as they are, never filled. */
  readonly series: UsageSeries;
  /** What is wrong with it, though it can be used; undefined: nothing. */
  readonly note: string | undefined;
}

const ACCEPTED =
  'lines of `timestamp,value`: a date and time (UTC unless it says otherwise) or seconds since 1970, and a CPU usage in percent of the machine';
/** Beyond this no percentage of a machine lies, however it was measured. */
const MAX_PERCENT = 10_000;
/** A recording that says nothing for longer is told to have a gap. */
const GAP_MILLIS: Millis = 3_600_000;

/** No line is longer; what goes on without an end is no recording. */
const MAX_LINE = 65_536;
const SHOWN = 80;

interface Flaw {
  count: number;
  readonly firstLine: number;
  readonly text: string;
}

/**
 * A first line that is a heading is skipped, and so are empty lines. A value that is missing or no number is a gap in
 * the recording.
 * @param machine CPU of the whole machine: 4,000 reads 25 % as one core.
 */
export function createCsvReader(name: string, machine: Millicores): CsvReader {
  const instants = createNumberColumn();
  const usages = createNumberColumn();
  const readInstant = createInstantReader();
  const flaws = new Map<'time' | 'value' | 'number', Flaw>();
  let rest = '';
  let line = 0;

  function note(kind: 'time' | 'value' | 'number', text: string): void {
    const known = flaws.get(kind);
    if (known === undefined) flaws.set(kind, { count: 1, firstLine: line, text: text.trim().slice(0, SHOWN) });
    else known.count++;
  }

  function readLine(text: string): void {
    line++;
    const comma = text.indexOf(',');
    const time = (comma < 0 ? text : text.slice(0, comma)).trim();
    if (time === '') return;
    const at = readInstant(time);
    if (at === undefined) {
      if (line > 1) note('time', text);
      return;
    }
    const value = comma < 0 ? '' : (text.slice(comma + 1).split(',', 1)[0] ?? '').trim();
    const percent = value === '' ? Number.NaN : Number(value);
    if (Number.isNaN(percent)) note('number', text);
    else if (percent < 0 || percent > MAX_PERCENT) note('value', text);
    else {
      instants.push(at);
      usages.push((percent / 100) * machine);
    }
  }

  return {
    push(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const one of lines) readLine(one);
      if (rest.length <= MAX_LINE) return;
      readLine(rest);
      rest = '';
    },
    end() {
      readLine(rest);
      rest = '';
      const [at, usage] = [instants.values(), usages.values()];
      const refused = flaws.get('time') ?? flaws.get('value') ?? flaws.get('number');
      if (at.length === 0) {
        throw new InvalidValueError(`${name}, line ${refused?.firstLine ?? 1}`, refused?.text ?? '', ACCEPTED);
      }
      const unread = flaws.get('time');
      if (unread !== undefined && unread.count >= at.length) {
        throw new InvalidValueError(`${name}, line ${unread.firstLine}`, unread.text, ACCEPTED);
      }
      const sorted = inOrderOfTime(at, usage);
      const notes = [
        told(flaws.get('time'), 'without a date and time are left out'),
        told(flaws.get('value'), `below 0 or above ${MAX_PERCENT} % are left out`),
        told(flaws.get('number'), 'without a number count as gaps'),
        sorted.repeated > 0 ? `${sorted.repeated} instants are told again, the last value counts` : undefined,
        sorted.wasSorted ? undefined : 'lines are not in order of time and were put in order',
        gapText(sorted.at),
      ].filter((text) => text !== undefined);
      return {
        series: { name, at: sorted.at, usage: sorted.usage },
        note: notes.length === 0 ? undefined : `${name}: ${notes.join('; ')}`,
      };
    },
  };
}

const told = (flaw: Flaw | undefined, what: string): string | undefined =>
  flaw && `${flaw.count === 1 ? '1 line' : `${flaw.count} lines`} (the first is line ${flaw.firstLine}) ${what}`;

function gapText(at: Float64Array): string | undefined {
  let [longest, from] = [0, 0];
  for (let index = 1; index < at.length; index++) {
    const gap = (at[index] ?? 0) - (at[index - 1] ?? 0);
    if (gap > longest) [longest, from] = [gap, at[index - 1] ?? 0];
  }
  if (longest <= GAP_MILLIS) return undefined;
  const hours = Math.round(longest / 360_000) / 10;
  return `the longest gap is ${hours} h, after ${new Date(from).toISOString()}`;
}

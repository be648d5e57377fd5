/** Recorded usage of one container over time, and how it is read from a file. */
import { InvalidValueError } from '../../lib/errors.ts';
import type { EpochMillis, Millicores } from '../../lib/units.ts';

export interface UsagePoint {
  readonly at: EpochMillis;
  readonly usage: number;
}

/** In order of time. */
export interface UsageSeries {
  readonly name: string;
  readonly points: readonly UsagePoint[];
}

const TIMESTAMP = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;
const ACCEPTED =
  'lines of `timestamp,value`: a date and time (UTC unless it says otherwise) and a CPU usage in percent of the machine';
/** Beyond this no percentage of a machine lies, however it was measured. */
const MAX_PERCENT = 10_000;

/**
 * Reads `timestamp,value` lines, value in percent of a machine; a first line that is a heading is skipped, and so are empty
 * lines and values that are no number (a gap in the recording).
 * @param machine CPU of the whole machine: 4,000 reads 25 % as one core.
 * @returns points in order of time, one for each instant (the last one told).
 * @throws InvalidValueError naming file and line for anything else.
 */
export function parseCpuCsv(name: string, text: string, machine: Millicores): UsageSeries {
  const points = new Map<EpochMillis, number>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [time = '', value = ''] = line.split(',').map((field) => field.trim());
    if (time === '' || (index === 0 && !TIMESTAMP.test(time))) continue;
    const at = TIMESTAMP.test(time) ? Date.parse(asUtc(time)) : Number.NaN;
    const percent = value === '' ? Number.NaN : Number(value);
    if (Number.isNaN(at) || percent < 0 || percent > MAX_PERCENT) {
      throw new InvalidValueError(`${name}, line ${index + 1}`, line, ACCEPTED);
    }
    if (Number.isFinite(percent)) points.set(at, (percent / 100) * machine);
  }
  return { name, points: [...points].sort(([a], [b]) => a - b).map(([at, usage]) => ({ at, usage })) };
}

function asUtc(time: string): string {
  const iso = time.replace(' ', 'T');
  return /(?:Z|[+-]\d\d:?\d\d)$/.test(iso) ? iso : `${iso}Z`;
}

/** Recorded series from the files of a directory. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../../lib/errors.ts';
import type { Millicores } from '../../lib/units.ts';
import { parseCpuCsv, type UsageSeries } from '../../simulator/backtest/usage-series.ts';
import { CommandError } from '../cli-error.ts';

export interface LoadedSeries {
  readonly directory: string;
  readonly series: readonly UsageSeries[];
  /** Files that were left out, and why. */
  readonly problems: readonly string[];
}

/** Shorter than this there is nothing to judge after the warm-up of a day. */
const MIN_SPAN_MILLIS = 2 * 86_400_000;

/**
 * Reads every `.csv` of `directory`, in order of names; a file that cannot be used is a problem and no end.
 * @throws CommandError when none can be used.
 */
export async function loadSeries(directory: string, machine: Millicores): Promise<LoadedSeries> {
  const series: UsageSeries[] = [];
  const problems: string[] = [];
  for (const file of await listCsv(directory)) {
    try {
      const one = parseCpuCsv(file, await readFile(join(directory, file), 'utf8'), machine);
      const span = (one.points.at(-1)?.at ?? 0) - (one.points[0]?.at ?? 0);
      if (span >= MIN_SPAN_MILLIS) series.push({ ...one, name: file.replace(/\.csv$/, '') });
      else problems.push(`${file} is left out: it covers less than two days`);
    } catch (error) {
      problems.push(`${file} is left out: ${describeError(error)}`);
    }
  }
  if (series.length === 0) {
    const why = problems[0] ?? 'there is no .csv file in it';
    throw new CommandError(`--data ${directory}: ${why}; give a directory of files with lines of timestamp,value`);
  }
  return { directory, series, problems };
}

async function listCsv(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((file) => file.endsWith('.csv')).toSorted();
  } catch (error) {
    throw new CommandError(`--data ${directory}: ${describeError(error)}; give a directory of .csv files`, {
      cause: error,
    });
  }
}

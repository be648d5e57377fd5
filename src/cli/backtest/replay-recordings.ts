/** Recorded series from the files of a directory, replayed one after the other. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeFileError } from '../../lib/errors.ts';
import type { Millicores, Millis } from '../../lib/units.ts';
import { createCpuComparing } from '../../simulator/backtest/compare.ts';
import { type CsvRecording, createCsvReader } from '../../simulator/backtest/csv-series.ts';
import type { NamedStrategy } from '../../simulator/backtest/strategy.ts';
import { CommandError } from '../cli-error.ts';
import type { CpuComparison } from './backtest-document.ts';

export interface RecordingsOptions {
  /** CPU of the machine that the percentages are of. */
  readonly machine: Millicores;
  /** What is requested now, for the row "as is"; undefined: there is none. */
  readonly requested: Millicores | undefined;
  readonly strategies: readonly NamedStrategy[];
}

/** At least one series was replayed. */
export interface ReplayedRecordings {
  readonly comparison: CpuComparison;
  /** Files that were left out, and why; and what is wrong with those that were not. */
  readonly problems: readonly string[];
}

/** Shorter than this there is nothing to judge after the warm-up of a day. */
const MIN_SPAN_MILLIS: Millis = 2 * 86_400_000;

/**
 * Replays every `.csv` of `directory`, in order of names; a file that cannot be used is a problem and no end. No more than
 * one file is in memory.
 * @param signal ends it between two files.
 * @throws CommandError when none can be used.
 */
export async function replayRecordings(
  directory: string,
  { machine, requested, strategies }: RecordingsOptions,
  signal: AbortSignal,
): Promise<ReplayedRecordings> {
  const comparing = createCpuComparing(strategies);
  const problems: string[] = [];
  for (const file of await listCsv(directory)) {
    signal.throwIfAborted();
    try {
      const path = join(directory, file);
      // A pipe would be waited for, and nothing could end that.
      if (!(await stat(path)).isFile()) {
        problems.push(`${file} is left out: it is no file`);
        continue;
      }
      const { series, note } = await readRecording(path, file, machine);
      const span = (series.at.at(-1) ?? 0) - (series.at[0] ?? 0);
      if (span < MIN_SPAN_MILLIS) {
        problems.push(`${file} is left out: it covers less than two days`);
        continue;
      }
      if (note !== undefined) problems.push(note);
      comparing.add({ ...series, name: file.replace(/\.csv$/, ''), requested });
    } catch (error) {
      problems.push(`${file} is left out: ${describeFileError(error)}`);
    }
  }
  if (comparing.series() === 0) {
    const why = problems[0] ?? 'there is no .csv file in it';
    throw new CommandError(`--data ${directory}: ${why}; give a directory of files with lines of timestamp,value`);
  }
  return {
    comparison: { source: directory, series: comparing.series(), strategies: comparing.figures() },
    problems,
  };
}

async function readRecording(path: string, name: string, machine: Millicores): Promise<CsvRecording> {
  const reader = createCsvReader(name, machine);
  const chunks: AsyncIterable<string> = createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 20 });
  for await (const chunk of chunks) reader.push(chunk);
  return reader.end();
}

async function listCsv(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((file) => file.endsWith('.csv')).toSorted();
  } catch (error) {
    throw new CommandError(
      `--data ${directory}: ${describeFileError(error, 'folder')}; give a directory of .csv files`,
      {
        cause: error,
      },
    );
  }
}

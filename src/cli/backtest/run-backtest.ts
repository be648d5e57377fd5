/** Runs `stowage backtest`. */

import type { BacktestOptions } from '../backtest-command.ts';
import { type CliContext, printLines } from '../cli-context.ts';
import { UsageError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { renderDocument } from '../output.ts';
import { buildBacktest } from './backtest-document.ts';
import { renderBacktest } from './render-backtest.ts';
import { replayRecordings } from './replay-recordings.ts';

const MILLICORES = 1000;

export async function runBacktest(context: CliContext, options: BacktestOptions): Promise<ExitCode> {
  const { io, global } = context;
  const { data, generated, cores } = options;
  if (data === undefined && generated === undefined) {
    throw new UsageError('give --data DIRECTORY, --generated SEED, or both');
  }
  const recorded = data === undefined ? undefined : await replayRecordings(data, cores * MILLICORES, io.signal);
  const document = buildBacktest({ recorded, generated });
  const text = renderDocument(document, global.output);
  if (text !== undefined) io.out.write(text);
  else printLines(context, renderBacktest(document, context));
  for (const problem of document.problems) io.err.write(`note: ${problem}\n`);
  return exitCodes.ok;
}

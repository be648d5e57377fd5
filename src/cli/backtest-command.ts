/** `stowage backtest`: what the engine would have requested in the past, next to what others would have. */
import { InvalidArgumentError } from 'commander';
import type { AddCommand } from './command-definition.ts';

export interface BacktestOptions {
  readonly data?: string;
  readonly cores: number;
  readonly generated?: number;
}

const EXAMPLES = `
Examples:
  stowage backtest --data recordings/             # every .csv in the directory
  stowage backtest --data recordings/ --cores 8   # 100 percent are 8 cores
  stowage backtest --data recordings/ -o wide     # each series too
  stowage backtest --generated 1                  # series made up from seed 1
  stowage backtest --data recordings/ -o json

Lines are timestamp,value: CPU usage in percent of a machine. Nothing is fitted
to the series: every strategy sees only what came before.`;

export const addBacktestCommand: AddCommand = (program, register) => {
  const command = program
    .command('backtest')
    .description('Replay recorded usage and compare what would have been requested: slack, shortfall, changes.')
    .option('--data <directory>', 'directory of .csv files, one series each: timestamp,value in percent of a machine')
    .option('--cores <number>', 'cores of the machine the percentages are of', parseCores, 4)
    .option('--generated <seed>', 'series and memory traces made up from this seed', parseSeed)
    .addHelpText('after', EXAMPLES);
  register<BacktestOptions>(command, async (context, options) =>
    (await import('./backtest/run-backtest.ts')).runBacktest(context, options),
  );
  return command;
};

function parseCores(text: string): number {
  const cores = Number(text);
  if (/^\d+(?:\.\d+)?$/.test(text) && cores > 0 && cores <= 1000) return cores;
  throw new InvalidArgumentError('Give a number of cores, above 0 and at most 1000.');
}

function parseSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number.');
}

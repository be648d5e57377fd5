/** `stowage backtest`: what the engine would have requested in the past, next to what others would have. */
import { InvalidArgumentError } from 'commander';
import { parsePolicyDuration } from '../api/policy-values.ts';
import { tryParseMillicores } from '../lib/quantity.ts';
import type { Millis } from '../lib/units.ts';
import type { HistoryOptions } from './backtest/prometheus/open-history.ts';
import type { AddCommand } from './command-definition.ts';
import { collect, parseSeed } from './option-values.ts';

export interface BacktestOptions extends HistoryOptions {
  readonly data?: string;
  readonly cores: number;
  readonly config?: string;
  /** `KIND/NAME` or `KIND/NAMESPACE/NAME`. */
  readonly workload?: readonly string[];
  readonly since?: Millis;
  readonly generated?: number;
  readonly policy?: readonly string[];
  /** In millicores. */
  readonly request?: number;
}

const DAY: Millis = 86_400_000;
/** A day of warm-up, and as much to judge. */
const MIN_SINCE: Millis = 2 * DAY;
const MAX_SINCE: Millis = 366 * DAY;

const EXAMPLES = `
Examples:
  stowage backtest --data recordings/             # every .csv in the directory
  stowage backtest --data recordings/ --cores 8   # 100 percent are 8 cores
  stowage backtest --data recordings/ -o wide     # each series too
  stowage backtest --data recordings/ --policy policy.yaml   # yours beside ours
  stowage backtest --data recordings/ --request 500m         # and as it is now
  stowage backtest --generated 1                  # series made up from seed 1
  stowage backtest --data recordings/ -o json

  stowage backtest --data prometheus --prometheus http://localhost:9090
  stowage backtest --data prometheus -n shop --workload deploy/web --since 7d

Lines are timestamp,value: CPU usage in percent of a machine. From Prometheus
come CPU and memory of all replicas, and present requests for the row "as is".
Nothing is fitted to the series: every strategy sees only what came before.`;

export const addBacktestCommand: AddCommand = (program, register) => {
  const command = program
    .command('backtest')
    .description('Replay recorded usage and compare what would have been requested: slack, shortfall, changes.')
    .option(
      '--data <directory>',
      'directory of .csv files, one series each: timestamp,value in percent of a machine; or prometheus',
    )
    .option('--cores <number>', 'cores of the machine the percentages are of', parseCores, 4)
    .option('--policy <file>', 'OptimizationPolicies of this file, a row each (may be repeated)', collect)
    .option('--request <quantity>', 'what is requested now, such as 500m: the row "as is" of --data', parseRequest)
    .option(
      '--prometheus <url>',
      'address for --data prometheus (default: rightsizing.prometheus.url of the configuration)',
    )
    .option('--prometheus-token <file>', 'file with the bearer token it asks for')
    .option('--prometheus-ca <file>', 'file with the authority of its certificate, in PEM')
    .option('--workload <reference>', 'KIND/NAME of a workload in Prometheus (may be repeated; default: all)', collect)
    .option('--since <duration>', 'how far to go back in Prometheus, such as 7d (default: 14d)', parseSince)
    .option('-c, --config <file>', "the operator's configuration file: its Prometheus, and its limits for policies")
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

function parseRequest(text: string): number {
  const millicores = tryParseMillicores(text);
  if (millicores !== undefined && millicores > 0) return millicores;
  throw new InvalidArgumentError('Give a CPU quantity above 0, such as 500m or 2.');
}

function parseSince(text: string): Millis {
  try {
    const since = parsePolicyDuration(text);
    if (since > MIN_SINCE && since <= MAX_SINCE) return since;
  } catch {
    // Told below.
  }
  throw new InvalidArgumentError('Give more than 2d and at most 366d, such as 14d or 2w.');
}

/** Runs `stowage backtest`. */
import { loadConfigFile } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { printable } from '../../lib/printable.ts';
import type { Millis } from '../../lib/units.ts';
import type { BacktestOptions } from '../backtest-command.ts';
import { type CliContext, printLines } from '../cli-context.ts';
import { UsageError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { renderDocument } from '../output.ts';
import { parseWorkloadReference, sizedKinds } from '../workload-reference.ts';
import { buildBacktest, type Replayed, replayGenerated } from './backtest-document.ts';
import { openHistory } from './prometheus/open-history.ts';
import { replayHistory } from './prometheus/replay-history.ts';
import { readPolicies } from './read-policies.ts';
import { renderBacktest } from './render-backtest.ts';
import { replayRecordings } from './replay-recordings.ts';
import { type Rows, rowsOf } from './strategies.ts';

const MILLICORES = 1000;
const DEFAULT_SINCE: Millis = 14 * 86_400_000;
/** The value of `--data` that is no directory. A directory of this name is `./prometheus`. */
const PROMETHEUS = 'prometheus';
/** More are counted, not listed. */
const MAX_NOTES = 20;

export async function runBacktest(context: CliContext, options: BacktestOptions): Promise<ExitCode> {
  const { io, global } = context;
  checkOptions(options);
  const { config, warnings } = loadConfigFile(options.config, io.env);
  const policies =
    options.policy === undefined ? undefined : await readPolicies(options.policy, io, config.rightsizing.limits);
  const rows = rowsOf(policies?.rows ?? []);
  const recorded =
    options.data === undefined ? undefined : await replayData(options.data, context, options, config, rows);
  const generated = options.generated === undefined ? undefined : replayGenerated(options.generated, rows);
  const replayed = [recorded, generated].filter((one) => one !== undefined);
  const document = buildBacktest(replayed, [...warnings, ...(policies?.problems ?? [])]);
  const text = renderDocument(document, global.output);
  if (text !== undefined) io.out.write(text);
  else printLines(context, renderBacktest(document, context));
  for (const problem of document.problems.slice(0, MAX_NOTES)) io.err.write(`note: ${printable(problem)}\n`);
  const more = document.problems.length - MAX_NOTES;
  if (more > 0) io.err.write(`note: ${more} more; -o json has all of them\n`);
  return exitCodes.ok;
}

/** What only means something beside another option is not silently ignored. */
function checkOptions({ data, generated, request, ...options }: BacktestOptions): void {
  if (data === undefined && generated === undefined)
    throw new UsageError('give --data DIRECTORY, --data prometheus, --generated SEED, or several of them');
  if (request !== undefined && (data === undefined || data === PROMETHEUS))
    throw new UsageError('--request is what is requested now of --data DIRECTORY; Prometheus tells it by itself');
  if (data === PROMETHEUS) return;
  const { prometheus, prometheusToken, prometheusCa, workload, since } = options;
  const given = Object.entries({
    '--prometheus': prometheus,
    '--prometheus-token': prometheusToken,
    '--prometheus-ca': prometheusCa,
    '--workload': workload,
    '--since': since,
  }).find(([, value]) => value !== undefined);
  if (given !== undefined) throw new UsageError(`${given[0]} goes with --data prometheus only`);
}

async function replayData(
  data: string,
  { io, global }: CliContext,
  options: BacktestOptions,
  config: Config,
  rows: Rows,
): Promise<Replayed> {
  if (data !== PROMETHEUS) {
    const machine = options.cores * MILLICORES;
    const recordings = { machine, requested: options.request, strategies: rows.cpu };
    const { comparison, problems } = await replayRecordings(data, recordings, io.signal);
    return { cpu: comparison, memory: [], problems };
  }
  const { namespace } = global;
  const wanted = (options.workload ?? []).map((words) => parseWorkloadReference([words], namespace, sizedKinds));
  const history = await openHistory(options, config, io);
  try {
    const { since: sinceMillis = DEFAULT_SINCE } = options;
    const replayed = await replayHistory(history, { namespace, wanted, sinceMillis, rows }, io.clock.now(), io.signal);
    return { ...replayed, memory: [replayed.memory] };
  } finally {
    history.close();
  }
}

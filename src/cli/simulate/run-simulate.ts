/** Runs `stowage simulate`. */
import { ConfigError } from '../../lib/errors.ts';
import type { SimulationReport } from '../../simulator/report.ts';
import { libraryNames, loadScenario } from '../../simulator/scenario/load-scenario.ts';
import { simulate } from '../../simulator/simulate.ts';
import { type CliContext, printLines } from '../cli-context.ts';
import { CommandError, UsageError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { StartOperator } from '../operator-port.ts';
import { DOCUMENT_VERSION, isForMachines, renderDocument } from '../output.ts';
import { createProgress } from './progress.ts';
import { renderComparison, renderSimulation } from './render-simulation.ts';
import type { SimulateOptions } from './simulate-command.ts';
import { comparisonDocument, simulationDocument } from './simulation-document.ts';
import { simulationPage } from './simulation-page.ts';
import { checkWritable, writePage } from './write-page.ts';

export async function runSimulate(
  context: CliContext,
  options: SimulateOptions,
  scenarios: readonly string[],
  startOperator: StartOperator,
): Promise<ExitCode> {
  if (scenarios.length === 0) {
    if (options.html !== undefined) throw new UsageError('--html takes a scenario to run');
    return listLibrary(context);
  }
  const isComparison = options.compare === true;
  if (isComparison && scenarios.length !== 2) throw new UsageError('--compare takes two scenarios');
  if (!isComparison && scenarios.length > 1) throw new UsageError('give one scenario, or two with --compare');

  if (options.html !== undefined) await checkWritable(options.html);
  const reports: SimulationReport[] = [];
  const withSeries = options.html !== undefined || isForMachines(context.global.output);
  for (const name of scenarios)
    reports.push(await runOne(context, name, { seed: options.seed, withSeries, startOperator }));
  print(context, reports, isComparison);
  if (options.html !== undefined)
    await writePage(
      options.html,
      simulationPage(reports.map((report, index) => ({ source: scenarios[index] ?? '', report }))),
    );
  return reports.every(hasPassed) ? exitCodes.ok : exitCodes.failure;
}

interface RunOptions {
  readonly seed: number | undefined;
  readonly withSeries: boolean;
  readonly startOperator: StartOperator;
}

async function runOne({ io }: CliContext, name: string, { seed, ...rest }: RunOptions): Promise<SimulationReport> {
  const { scenario, folder } = load(name);
  const progress = createProgress(io.err, scenario.name);
  try {
    return await simulate({
      scenario,
      folder,
      ...rest,
      onProgress: progress.show,
      signal: io.signal,
      ...(seed === undefined ? {} : { seed }),
    });
  } finally {
    progress.end();
  }
}

/** @throws CommandError with every problem on a line of its own. */
function load(name: string) {
  try {
    return loadScenario(name);
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.problems.join('\n'), { cause: error });
    throw error;
  }
}

/** The invariants are assertions that no scenario has to write down. */
function hasPassed({ asserts, violations }: SimulationReport): boolean {
  return violations.length === 0 && asserts.every(({ ok }) => ok);
}

function print(context: CliContext, reports: readonly SimulationReport[], isComparison: boolean): void {
  const { io, global, style } = context;
  const [first, second] = reports;
  const document = isComparison || first === undefined ? comparisonDocument(reports) : simulationDocument(first);
  const text = renderDocument(document, global.output);
  if (text !== undefined) io.out.write(text);
  else if (first !== undefined && second !== undefined) printLines(context, renderComparison(first, second, style));
  else if (first !== undefined) printLines(context, renderSimulation(first, style, global.output === 'wide'));
}

function listLibrary(context: CliContext): ExitCode {
  const scenarios = libraryNames().map((name) => ({ name, description: loadScenario(name).scenario.description }));
  const text = renderDocument(
    { apiVersion: DOCUMENT_VERSION, kind: 'ScenarioList', ...{ scenarios } },
    context.global.output,
  );
  if (text !== undefined) context.io.out.write(text);
  else {
    const width = Math.max(...scenarios.map(({ name }) => name.length));
    printLines(context, [
      'Scenarios that come with Stowage; run one with `stowage simulate NAME`:',
      ...scenarios.map(({ name, description }) => `  ${name.padEnd(width)}  ${description}`),
    ]);
  }
  return exitCodes.ok;
}

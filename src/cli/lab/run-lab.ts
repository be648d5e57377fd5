/** Runs `stowage lab`. */
import { labArms } from '../../lab/arms.ts';
import { codeFingerprint } from '../../lab/code-fingerprint.ts';
import { type ExperimentOptions, type RunFigures, runExperiment } from '../../lab/experiment.ts';
import { type LabLoad, labLoads } from '../../lab/loads.ts';
import { type CliContext, printLines, printNotes } from '../cli-context.ts';
import { UsageError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { LabOptions } from '../lab-command.ts';
import { DOCUMENT_VERSION, type ResultDocument, renderDocument } from '../output.ts';
import { createProgress } from '../simulate/progress.ts';
import { type ChosenSubstrate, CPUS, chooseSubstrate } from './choose-substrate.ts';
import { type Cell, type LabFolder, openLabFolder } from './lab-folder.ts';
import { type LabResults, labResults } from './lab-results.ts';

/** The node of the experiment: a tenth is kept back for the system. */
const NODE: Pick<ExperimentOptions, 'cpus' | 'allocatable' | 'warmUpMillis'> = {
  cpus: CPUS,
  allocatable: 1800,
  warmUpMillis: 15_000,
};

/**
 * @throws UsageError for a load or arm of another name, CommandError where the substrate or the folder cannot be used.
 */
export async function runLab(context: CliContext, options: LabOptions, version: string): Promise<ExitCode> {
  const loads = choose(labLoads, options.load, 'load');
  const arms = choose(labArms, options.arm, 'arm');
  if (options.list === true) {
    return printNames(context);
  }
  const substrate = await chooseSubstrate(context, options.substrate);
  const folder = await openFolder(context, options, { substrate, version });
  const cells = loads.map((load) => arms.map((arm) => ({ load, arm })));
  const { document, table } = await runAll(context, { cells, options, substrate, folder });
  context.io.out.write(renderDocument(document, context.global.output) ?? table);
  return exitCodes.ok;
}

interface Named {
  readonly name: string;
  readonly describe: string;
}

interface LabNamesDocument extends ResultDocument {
  readonly kind: 'LabNames';
  readonly loads: readonly Named[];
  readonly arms: readonly Named[];
}

function printNames(context: CliContext): ExitCode {
  const [loads, arms] = [labLoads.map(namedOf), labArms.map(namedOf)];
  const document: LabNamesDocument = { apiVersion: DOCUMENT_VERSION, kind: 'LabNames', loads, arms };
  const text = renderDocument(document, context.global.output);
  if (text === undefined) printLines(context, ['loads', ...loads.map(line), 'arms', ...arms.map(line)]);
  else context.io.out.write(text);
  return exitCodes.ok;
}

const namedOf = ({ name, describe }: Named): Named => ({ name, describe });
const line = ({ name, describe }: Named): string => `  ${name.padEnd(18)} ${describe}`;

function choose<Item extends { readonly name: string }>(
  all: readonly Item[],
  names: readonly string[] | undefined,
  what: string,
): readonly Item[] {
  if (names === undefined) return all;
  return names.map((name) => {
    const found = all.find((each) => each.name === name);
    if (found !== undefined) return found;
    throw new UsageError(
      `--${what} ${name}: there is none of this name; known: ${all.map((each) => each.name).join(', ')}`,
    );
  });
}

const lengthOf = ({ leastMillis = 0 }: LabLoad, { seconds }: LabOptions): number =>
  Math.max(seconds * 1000, leastMillis);

interface FolderFacts {
  readonly substrate: ChosenSubstrate;
  readonly version: string;
}

async function openFolder(
  context: CliContext,
  options: LabOptions,
  { substrate: { kind, machine }, version }: FolderFacts,
): Promise<LabFolder | undefined> {
  if (options.out === undefined) return undefined;
  const folder = await openLabFolder(options.out, async ({ load, arm }) => ({
    substrate: kind,
    seconds: lengthOf(load, options) / 1000,
    version,
    machine,
    code: await codeFingerprint({ load, arm, ...NODE }),
  }));
  const { runs, others } = folder;
  printNotes(context, [
    ...(runs.length > 0 ? [`note: runs found in ${options.out}, and taken over: ${runs.length}`] : []),
    ...(others > 0
      ? [`note: runs found in ${options.out}, but made under other settings or by other code, and left out: ${others}`]
      : []),
  ]);
  return folder;
}

interface LabWork {
  /** By load, all arms of it. */
  readonly cells: readonly (readonly Cell[])[];
  readonly options: LabOptions;
  readonly substrate: ChosenSubstrate;
  readonly folder: LabFolder | undefined;
}

/**
 * Seed by seed, so that an experiment that is interrupted has about as many of each load and arm; and the arms of a
 * load one after the other, so that what disturbs the machine for a while disturbs all of them alike.
 */
async function runAll(context: CliContext, { cells, options, substrate, folder }: LabWork): Promise<LabResults> {
  const { io } = context;
  const runs: RunFigures[] = [...(folder?.runs ?? [])];
  const results = (): LabResults => labResults(runs, { substrate: substrate.kind, seeds: options.seeds });
  const isDone = ({ load, arm }: Cell, seed: number): boolean =>
    runs.some((run) => run.load === load.name && run.arm === arm.name && run.seed === seed);
  const total = cells.flat().length * options.seeds;
  const rounds = Array.from({ length: options.seeds }, (_, index) => index + 1).flatMap((seed) =>
    cells.map((ofLoad) => ofLoad.filter((cell) => !isDone(cell, seed)).map((cell) => ({ ...cell, seed }))),
  );
  let left = rounds.flat().length;
  const progress = createProgress(io.err, 'lab');
  try {
    for (const round of rounds.filter(({ length }) => length > 0)) {
      for (const { load, arm, seed } of round) {
        io.signal.throwIfAborted();
        progress.show(1 - left-- / total);
        const lengthMillis = lengthOf(load, options);
        const figures = await runOnce(substrate, { load, arm, seed, signal: io.signal, lengthMillis });
        runs.push(figures);
        await folder?.keep({ load, arm }, figures);
      }
      await folder?.write(results());
    }
  } catch (error) {
    if (io.signal.aborted && folder !== undefined)
      printNotes(context, [`note: finished runs are in ${options.out}; the same command goes on with the rest`]);
    throw error;
  } finally {
    progress.end();
  }
  await folder?.write(results());
  return results();
}

async function runOnce(
  { open }: ChosenSubstrate,
  run: Pick<ExperimentOptions, 'load' | 'arm' | 'seed' | 'lengthMillis'> & { readonly signal: AbortSignal },
): Promise<RunFigures> {
  const substrate = open(run.lengthMillis);
  try {
    return await runExperiment({ ...NODE, ...run, substrate });
  } finally {
    await substrate.close();
  }
}

/** Runs `stowage lab`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findHierarchy, type Hierarchy } from '../../agent/cgroup/hierarchy.ts';
import type { Arm } from '../../lab/arm.ts';
import { labArms } from '../../lab/arms.ts';
import { type RunFigures, runExperiment } from '../../lab/experiment.ts';
import { createKernelSubstrate } from '../../lab/kernel/kernel-substrate.ts';
import { createLabGroups, removeAbandonedLabs } from '../../lab/kernel/lab-groups.ts';
import { labPlot } from '../../lab/lab-plot.ts';
import { tabulate } from '../../lab/lab-table.ts';
import { labText } from '../../lab/lab-text.ts';
import { type LabLoad, labLoads } from '../../lab/loads.ts';
import { createSimulatedSubstrate } from '../../lab/simulated-substrate.ts';
import type { Substrate } from '../../lab/substrate.ts';
import { createMonotonicTime } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import { type CliContext, printLines } from '../cli-context.ts';
import { CommandError, UsageError } from '../cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { LabOptions } from '../lab-command.ts';
import { DOCUMENT_VERSION, renderDocument } from '../output.ts';
import { createProgress } from '../simulate/progress.ts';

const CGROUP_MOUNT = '/sys/fs/cgroup';
/** The node of the experiment: two CPUs, a tenth kept back for the system. */
const CPUS = 2;
const ALLOCATABLE = 1800;
const WARM_UP_MILLIS = 15_000;

type OpenSubstrate = (lengthMillis: number) => Substrate;

export async function runLab(context: CliContext, options: LabOptions): Promise<ExitCode> {
  const loads = choose(labLoads, options.load, 'load');
  const arms = choose(labArms, options.arm, 'arm');
  if (options.list === true) {
    printLines(context, ['loads', ...labLoads.map(line), 'arms', ...labArms.map(line)]);
    return exitCodes.ok;
  }
  const open = await chooseSubstrate(context, options.substrate);
  const runs = await runAll(context, open, { loads, arms, options });
  const rows = tabulate(runs);
  const document = {
    apiVersion: DOCUMENT_VERSION,
    kind: 'Lab',
    substrate: runs[0]?.substrate,
    seeds: options.seeds,
    rows,
  } as const;
  const table = labText(rows);
  context.io.out.write(renderDocument(document, context.global.output) ?? table);
  if (options.out !== undefined) await writeResults(options.out, runs, table, document);
  return exitCodes.ok;
}

const line = ({ name, describe }: { readonly name: string; readonly describe: string }): string =>
  `  ${name.padEnd(18)} ${describe}`;

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

/** @throws CommandError when control groups were asked for and cannot be had. */
async function chooseSubstrate({ io }: CliContext, kind: LabOptions['substrate']): Promise<OpenSubstrate> {
  const simulated: OpenSubstrate = (lengthMillis) => createSimulatedSubstrate({ cpus: CPUS, lengthMillis });
  if (kind === 'simulated') return simulated;
  const hierarchy = findHierarchy(CGROUP_MOUNT);
  const problem = typeof hierarchy === 'string' ? hierarchy : await prepare(hierarchy, io);
  if (problem === undefined && typeof hierarchy !== 'string') {
    return (lengthMillis) =>
      createKernelSubstrate({ hierarchy, lengthMillis, clock: io.clock, monotonicMillis: createMonotonicTime() });
  }
  if (kind === 'kernel') throw new CommandError(`control groups cannot be used here: ${problem}`);
  io.err.write(`note: simulated, as control groups cannot be used here: ${problem}\n`);
  return simulated;
}

/** Removes what killed experiments left, and tries whether groups can be made. @returns why not. */
async function prepare(hierarchy: Hierarchy, io: CliContext['io']): Promise<string | undefined> {
  if (!('threadCpuUsage' in process)) return 'pods of the experiment need Node 24';
  try {
    for (const name of await removeAbandonedLabs(hierarchy, io.clock))
      io.err.write(`note: removed what a killed experiment had left: ${name}\n`);
    await createLabGroups(hierarchy, io.clock).close();
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

interface LabWork {
  readonly loads: readonly LabLoad[];
  readonly arms: readonly Arm[];
  readonly options: LabOptions;
}

/** Seed by seed, arm by arm: what disturbs the machine for a while disturbs all arms alike. */
async function runAll(
  { io }: CliContext,
  open: OpenSubstrate,
  { loads, arms, options }: LabWork,
): Promise<RunFigures[]> {
  const lengthMillis = options.seconds * 1000;
  const total = loads.length * arms.length * options.seeds;
  const progress = createProgress(io.err, 'lab');
  const runs: RunFigures[] = [];
  try {
    for (const load of loads) {
      for (let seed = 1; seed <= options.seeds; seed++) {
        for (const arm of arms) {
          io.signal.throwIfAborted();
          const substrate = open(lengthMillis);
          try {
            runs.push(
              await runExperiment({
                substrate,
                load,
                arm,
                seed,
                cpus: CPUS,
                allocatable: ALLOCATABLE,
                warmUpMillis: WARM_UP_MILLIS,
                lengthMillis,
                signal: io.signal,
              }),
            );
          } finally {
            await substrate.close();
          }
          progress.show(runs.length / total);
        }
      }
    }
  } finally {
    progress.end();
  }
  return runs;
}

async function writeResults(
  folder: string,
  runs: readonly RunFigures[],
  text: string,
  document: object,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'lab.md'), text);
  await writeFile(join(folder, 'lab.json'), `${JSON.stringify(document, undefined, 1)}\n`);
  for (const load of new Set(runs.map((run) => run.load))) {
    const shown = runs.filter((run) => run.load === load && run.seed === 1 && run.arm === 'stowage');
    const [first] = runs.filter((run) => run.load === load);
    const plotted = shown.length > 0 || first === undefined ? shown : [first];
    await writeFile(join(folder, `lab-${load}.svg`), labPlot(plotted));
  }
}

/** Where the experiment runs: in this machine's control groups, or on the simulated machine. */
import { release } from 'node:os';
import { findHierarchy, type Hierarchy } from '../../agent/cgroup/hierarchy.ts';
import { createKernelSubstrate } from '../../lab/kernel/kernel-substrate.ts';
import { createLabGroups, removeAbandonedLabs } from '../../lab/kernel/lab-groups.ts';
import { createSimulatedSubstrate } from '../../lab/simulated-substrate.ts';
import type { Substrate } from '../../lab/substrate.ts';
import { createMonotonicTime } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import type { CliContext } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import type { LabOptions } from '../lab-command.ts';

const CGROUP_MOUNT = '/sys/fs/cgroup';
/** Of the node of the experiment. */
export const CPUS = 2;

export interface ChosenSubstrate {
  readonly kind: Substrate['kind'];
  /** What its figures depend on beside the code; empty where that is nothing. */
  readonly machine: string;
  /** For one run. */
  open(lengthMillis: number): Substrate;
}

const simulated: ChosenSubstrate = {
  kind: 'simulated',
  machine: '',
  open: (lengthMillis) => createSimulatedSubstrate({ cpus: CPUS, lengthMillis }),
};

/** @throws CommandError when control groups were asked for and cannot be had. */
export async function chooseSubstrate({ io }: CliContext, kind: LabOptions['substrate']): Promise<ChosenSubstrate> {
  if (kind === 'simulated') return simulated;
  const hierarchy = findHierarchy(CGROUP_MOUNT);
  const problem = typeof hierarchy === 'string' ? hierarchy : await prepare(hierarchy, io);
  if (problem === undefined && typeof hierarchy !== 'string') {
    return {
      kind: 'kernel',
      machine: `Linux ${release()}, Node ${process.versions.node}`,
      open: (lengthMillis) =>
        createKernelSubstrate({ hierarchy, lengthMillis, clock: io.clock, monotonicMillis: createMonotonicTime() }),
    };
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

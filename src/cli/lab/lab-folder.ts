/** The folder of an experiment: its finished runs, with which it goes on after an interruption, and its results. */
import { join } from 'node:path';
import type { Arm } from '../../lab/arm.ts';
import { labArms } from '../../lab/arms.ts';
import type { RunFigures } from '../../lab/experiment.ts';
import { type KeptRun, openRunFile, type RunSetting } from '../../lab/kept-runs.ts';
import { type LabLoad, labLoads } from '../../lab/loads.ts';
import { type LabResults, writeLabResults } from './lab-results.ts';

const RUNS_FILE = 'runs.jsonl';

/** One load under one arm. */
export interface Cell {
  readonly load: LabLoad;
  readonly arm: Arm;
}

export interface LabFolder {
  /** Made under these settings by this code, whatever their load and arm. */
  readonly runs: readonly RunFigures[];
  /** How many were not. They stay in the file and out of the table. */
  readonly others: number;
  keep(cell: Cell, figures: RunFigures): Promise<void>;
  write(results: LabResults): Promise<void>;
}

/** @throws StowageError LAB_RUNS where the file of runs holds something else. */
export async function openLabFolder(
  folder: string,
  settingOf: (cell: Cell) => Promise<RunSetting>,
): Promise<LabFolder> {
  const file = await openRunFile(join(folder, RUNS_FILE));
  const settings = new Map<string, RunSetting>();
  const known = async (cell: Cell): Promise<RunSetting> => {
    const key = `${cell.load.name}\n${cell.arm.name}`;
    const setting = settings.get(key) ?? (await settingOf(cell));
    settings.set(key, setting);
    return setting;
  };
  const runs: KeptRun[] = [];
  for (const run of file.runs) {
    const cell = cellOf(run);
    if (cell !== undefined && isSame(run, await known(cell))) runs.push(run);
  }
  return {
    runs,
    others: file.runs.length - runs.length,
    keep: async (cell, figures) => file.keep({ ...figures, ...(await known(cell)) }),
    write: (results) => writeLabResults(folder, results),
  };
}

/** Undefined where the load or the arm is not there any more. */
function cellOf(run: RunFigures): Cell | undefined {
  const load = labLoads.find(({ name }) => name === run.load);
  const arm = labArms.find(({ name }) => name === run.arm);
  return load === undefined || arm === undefined ? undefined : { load, arm };
}

function isSame(one: RunSetting, other: RunSetting): boolean {
  return (
    one.substrate === other.substrate &&
    one.seconds === other.seconds &&
    one.version === other.version &&
    one.machine === other.machine &&
    one.code === other.code
  );
}

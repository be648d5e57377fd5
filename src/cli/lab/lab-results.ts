/** What an experiment leaves in its folder: the table, the figures and a plot of each load. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { labArms } from '../../lab/arms.ts';
import type { RunFigures } from '../../lab/experiment.ts';
import { labPlot } from '../../lab/lab-plot.ts';
import { type LabRow, tabulate } from '../../lab/lab-table.ts';
import { labText } from '../../lab/lab-text.ts';
import { labLoads } from '../../lab/loads.ts';
import { DOCUMENT_VERSION, type ResultDocument } from '../output.ts';

export interface LabDocument extends ResultDocument {
  readonly kind: 'Lab';
  readonly substrate: RunFigures['substrate'];
  /** Asked for; each row says how many it has. */
  readonly seeds: number;
  readonly rows: readonly LabRow[];
}

export interface LabResults {
  readonly document: LabDocument;
  readonly table: string;
  /** In the order of loads, arms and seeds. */
  readonly runs: readonly RunFigures[];
}

export function labResults(
  all: readonly RunFigures[],
  { substrate, seeds }: Pick<LabDocument, 'substrate' | 'seeds'>,
): LabResults {
  const runs = all.toSorted(
    (one, other) =>
      placeOf(labLoads, one.load) - placeOf(labLoads, other.load) ||
      placeOf(labArms, one.arm) - placeOf(labArms, other.arm) ||
      one.seed - other.seed,
  );
  const rows = tabulate(runs);
  return {
    document: { apiVersion: DOCUMENT_VERSION, kind: 'Lab', substrate, seeds, rows },
    table: labText(rows),
    runs,
  };
}

const placeOf = (all: readonly { readonly name: string }[], name: string): number =>
  all.findIndex((each) => each.name === name);

export async function writeLabResults(folder: string, { document, table, runs }: LabResults): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'lab.md'), table);
  await writeFile(join(folder, 'lab.json'), `${JSON.stringify(document, undefined, 1)}\n`);
  for (const load of new Set(runs.map((run) => run.load))) {
    const own = runs.filter((run) => run.load === load);
    const shown = own.find(({ arm }) => arm === 'stowage') ?? own[0];
    await writeFile(join(folder, `lab-${load}.svg`), labPlot(shown === undefined ? [] : [shown]));
  }
}

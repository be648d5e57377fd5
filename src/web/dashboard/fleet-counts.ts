/** How many workloads are in which state. */
import type { WorkloadPage, WorkloadRow } from './answers.ts';

export function countRows(rows: readonly WorkloadRow[]): WorkloadPage['counts'] {
  const counts = {
    all: rows.length,
    managed: 0,
    blocked: 0,
    invalid: 0,
    drifted: 0,
    incomplete: 0,
    balanced: 0,
    unmanaged: 0,
  };
  for (const row of rows) {
    counts[row.state]++;
    if (isManaged(row)) counts.managed++;
    if (row.blockedBy !== undefined) counts.blocked++;
  }
  return counts;
}

/** Placement has a say in it, and nothing about its settings is wrong. */
export function isManaged({ state }: Pick<WorkloadRow, 'state'>): boolean {
  return state !== 'unmanaged' && state !== 'invalid';
}

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
  for (const { state, blockedBy } of rows) {
    counts[state]++;
    if (state !== 'unmanaged' && state !== 'invalid') counts.managed++;
    if (blockedBy !== undefined) counts.blocked++;
  }
  return counts;
}

/**
 * Integration 6, PodDisruptionBudget: a resize evicts nobody, but while a workload is short of healthy pods none of
 * them gives anything up. Budgets whose status lags behind their spec count as short.
 */
import type { Millicores } from '../../../lib/units.ts';
import type { PdbRecord } from '../../../model/records.ts';
import type { Bound } from '../bounds.ts';

/** `pdbs`: those that select the pod. */
export function pdbBounds(pdbs: readonly PdbRecord[], current: Millicores): Bound[] {
  return pdbs.some(isShortOfPods) ? [{ layer: 'pdb', reason: 'PodDisruptionBudget', min: current }] : [];
}

function isShortOfPods({ observed, currentHealthy, desiredHealthy, disruptionsAllowed }: PdbRecord): boolean {
  if (!observed) return true;
  // A budget that selects nothing wants nothing; it is short of nothing either.
  const expectsPods = desiredHealthy > 0 || currentHealthy > 0;
  return currentHealthy < desiredHealthy || (disruptionsAllowed === 0 && expectsPods);
}

/**
 * Integration 6, PodDisruptionBudget: a resize evicts nobody, but while a workload is short of healthy pods none of
 * them gives anything up. Budgets whose status lags behind their spec count as short. One that is whole and allows no
 * disruption all the same, as of a single replica, keeps what it came with: kept for ever, what others once lent it
 * would be missing there for ever.
 */
import type { Millicores } from '../../../lib/units.ts';
import type { PdbRecord } from '../../../model/records.ts';
import type { Bound } from '../bounds.ts';

/** `pdbs`: those that select the pod. @param first what it had before it was resized. */
export function pdbBounds(pdbs: readonly PdbRecord[], current: Millicores, first: Millicores): Bound[] {
  const bound = (min: Millicores): Bound[] => [{ layer: 'pdb', reason: 'PodDisruptionBudget', min }];
  if (pdbs.some(isShortOfPods)) return bound(current);
  return pdbs.some(allowsNothing) ? bound(Math.min(current, first)) : [];
}

function isShortOfPods({ observed, currentHealthy, desiredHealthy }: PdbRecord): boolean {
  return !observed || currentHealthy < desiredHealthy;
}

/** A budget that selects nothing wants nothing. */
function allowsNothing({ disruptionsAllowed, currentHealthy, desiredHealthy }: PdbRecord): boolean {
  return disruptionsAllowed === 0 && (desiredHealthy > 0 || currentHealthy > 0);
}

/** What rightsizing disrupts for asks for a place of the budget as an eviction of placement does: last, and in turn. */
import type { EvictToResizeDecision, ResizeDecision, RetemplateDecision } from '../../decide/size-decision.ts';
import type { Block } from '../../guard/context.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { DisruptionTurns } from '../disruption-turns.ts';
import type { WorkloadReconciler } from './workload.ts';

type Blocked = { readonly kind: 'blocked'; readonly block: Block };

/**
 * @param verdict of the guards. Who is blocked for something else than a place gives up its turn; not for a resize, as
 * another pod of the workload may wait for it.
 * @returns the verdict, or that others go first.
 */
export function askForTurn<Verdict extends { readonly kind: 'approved' } | Blocked>(
  turns: Pick<DisruptionTurns, 'take' | 'noteBlocked'>,
  { kind, workload, workloadUid, isRestore = false }: EvictToResizeDecision | ResizeDecision | RetemplateDecision,
  verdict: Verdict,
): Verdict | Blocked {
  // Bare pods have no owner that could make them anew: nothing of theirs takes a place.
  if (workload === undefined || workloadUid === undefined) return verdict;
  const key = workloadKey(workload);
  // How far off a workload is, is a matter of placement; among those to be resized the name decides.
  const candidate = { engine: 'rightsizing', key, workloadUid, drift: 0, replicas: 1, isRestore } as const;
  if (verdict.kind === 'blocked') {
    if (kind !== 'resize' || verdict.block.reason === 'ConcurrencyLimit') turns.noteBlocked(candidate, verdict.block);
    return verdict;
  }
  const block = turns.take(candidate);
  return block === undefined ? verdict : { kind: 'blocked', block };
}

/** A workload that was looked at and did not ask for a place leaves the line: it wants none any more. */
export function inLine(turns: Pick<DisruptionTurns, 'look'>, { reconcile }: WorkloadReconciler): WorkloadReconciler {
  return {
    async reconcile(workload, ...rest) {
      const lookedAt = turns.look('rightsizing', workloadKey(workload));
      try {
        return await reconcile(workload, ...rest);
      } finally {
        lookedAt();
      }
    },
  };
}

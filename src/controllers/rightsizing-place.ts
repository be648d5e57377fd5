/** What rightsizing disrupts for asks for a place of the budget as an eviction of placement does: last, and in turn. */
import type { EvictToResizeDecision, ResizeDecision, RetemplateDecision } from '../decide/size-decision.ts';
import type { Block } from '../guard/context.ts';
import { workloadKey } from '../model/cluster-view.ts';
import type { DisruptionTurns } from './disruption-turns.ts';
import type { WorkloadResult } from './rightsizing-result.ts';
import type { WorkloadReconciler } from './rightsizing-workload.ts';

type Blocked = { readonly kind: 'blocked'; readonly block: Block };

/**
 * @param verdict of the guards. Who is blocked for something else than a place gives up its turn; not for a resize, as
 * another pod of the workload may wait for it.
 * @param isTrial nothing is disrupted yet.
 * @returns the verdict, or that others go first.
 */
export function askForPlace<Verdict extends { readonly kind: 'approved' } | Blocked>(
  turns: Pick<DisruptionTurns, 'take' | 'noteBlocked'>,
  { kind, workload, workloadUid, isRestore = false }: EvictToResizeDecision | ResizeDecision | RetemplateDecision,
  verdict: Verdict,
  isTrial = false,
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
  const block = turns.take(candidate, isTrial);
  return block === undefined ? verdict : { kind: 'blocked', block };
}

/**
 * One look at a workload at a time: a policy's pass and a change of the workload come to it in one moment, and would
 * both give a first pod less. Who was looked at and did not ask for a place leaves the line: it wants none any more.
 */
export function inLine(
  turns: () => Pick<DisruptionTurns, 'look'>,
  { reconcile }: WorkloadReconciler,
): WorkloadReconciler {
  /** By uid, when the last of the looks that were asked for is over. */
  const looks = new Map<string, Promise<void>>();
  return {
    reconcile(workload, ...rest) {
      const { uid } = workload;
      const look = async (): Promise<WorkloadResult> => {
        const lookedAt = turns().look('rightsizing', workloadKey(workload));
        try {
          return await reconcile(workload, ...rest);
        } finally {
          lookedAt();
        }
      };
      const before = looks.get(uid);
      const result = before === undefined ? look() : before.then(look);
      const over = result.then(
        () => {},
        () => {},
      );
      looks.set(uid, over);
      void over.then(() => {
        if (looks.get(uid) === over) looks.delete(uid);
      });
      return result;
    },
  };
}

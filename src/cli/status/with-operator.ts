/** The fleet's status with what only the running operator knows: what it waits for, and when it last moved something. */
import { workloadKey } from '../../model/cluster-view.ts';
import type { OperatorFleet } from '../operator-client.ts';
import type { FleetStatus, WorkloadStatusRow } from './fleet-status.ts';

/** The operator's blocks replace those that were worked out for an operator free to act. */
export function withOperator(status: FleetStatus, fleet: OperatorFleet): FleetStatus {
  const { at, workloads } = fleet;
  const byWorkload = new Map(workloads.map((told) => [told.workload, told]));
  const rows = status.workloads.map((row): WorkloadStatusRow => {
    const told = byWorkload.get(workloadKey(row));
    if (told === undefined) return row;
    const { blockedBy: _, ...rest } = row;
    const { lastDisruption, blocks } = told;
    return {
      ...rest,
      ...blockTold(blocks, at),
      ...(lastDisruption !== undefined && { lastDisruption: new Date(lastDisruption).toISOString() }),
    };
  });
  const blocked = rows.filter(({ blockedBy }) => blockedBy !== undefined).length;
  const problems = [...status.problems, ...operatorProblems(fleet)];
  return { ...status, summary: { ...status.summary, blocked }, workloads: rows, problems };
}

/** The first block as rows have it; nothing where there is none. */
export function blockTold(
  [block]: OperatorFleet['workloads'][number]['blocks'],
  at: number,
): Pick<WorkloadStatusRow, 'blockedBy'> {
  if (block === undefined) return {};
  const { reason, message, advice, retryAfterMillis } = block;
  const retryAt = retryAfterMillis === undefined ? {} : { retryAt: new Date(at + retryAfterMillis).toISOString() };
  return { blockedBy: { reason, message, advice, ...retryAt } };
}

/** Said where a follower was asked. */
export const NOT_LEADER =
  'the replica of the operator that answered is not the leader: it does not know what was done; ask the pod that holds the Lease';

/** Why what the operator tells is not the whole truth of now. */
export function operatorProblems({
  isLeader,
  synced = true,
  stale = [],
}: Pick<OperatorFleet, 'isLeader' | 'synced' | 'stale'>): readonly string[] {
  return [
    ...(synced ? [] : [NOT_SYNCED]),
    ...(stale.length === 0 ? [] : [`the operator has no news of ${stale.join(', ')}: what it tells may be of before`]),
    ...(isLeader ? [] : [NOT_LEADER]),
  ];
}

const NOT_SYNCED =
  'the operator has not read the whole cluster yet: what it does not know looks as if it were not there; ask again soon';

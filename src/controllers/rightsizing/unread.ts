/** Whether the usage of a workload cannot be read, for longer than a workload that has just begun takes. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { UsageProblem } from '../../observe/usage/usage-source.ts';
import type { WorkloadMemory } from './memory.ts';

export interface Unread {
  /** It is told, and nothing begins meanwhile. */
  readonly isLong: boolean;
  /** When it will have been long, if nothing comes; undefined where that is not waited for. */
  readonly againAfterMillis: Millis | undefined;
}

/**
 * To be called at each look: it remembers since when. The first samples of a new pod take their time; a source that
 * does not answer is a problem at once.
 * @param problem of the latest attempt; undefined where it succeeded.
 * @param patienceMillis how long a workload may be without any sample before that is called a problem of the source.
 */
export function noteUnread(
  memory: Pick<WorkloadMemory, 'unreadSince'>,
  problem: UsageProblem | undefined,
  now: EpochMillis,
  patienceMillis: Millis,
): Unread {
  memory.unreadSince = problem === undefined ? undefined : (memory.unreadSince ?? now);
  if (memory.unreadSince === undefined) return { isLong: false, againAfterMillis: undefined };
  const rest = problem?.reason === 'NoData' ? patienceMillis - (now - memory.unreadSince) : 0;
  return rest > 0 ? { isLong: false, againAfterMillis: rest } : { isLong: true, againAfterMillis: undefined };
}

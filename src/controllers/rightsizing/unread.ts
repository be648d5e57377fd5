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
export type NoteUnread = (
  memory: WorkloadMemory,
  problem: UsageProblem | undefined,
  now: EpochMillis,
  patienceMillis: Millis,
) => Unread;

export function createNoteUnread(): NoteUnread {
  const unreadSince = new WeakMap<WorkloadMemory, EpochMillis>();
  return (memory, problem, now, patienceMillis) => {
    if (problem === undefined) {
      unreadSince.delete(memory);
      return { isLong: false, againAfterMillis: undefined };
    }
    const since = unreadSince.get(memory) ?? now;
    unreadSince.set(memory, since);
    const rest = problem.reason === 'NoData' ? patienceMillis - (now - since) : 0;
    return rest > 0 ? { isLong: false, againAfterMillis: rest } : { isLong: true, againAfterMillis: undefined };
  };
}

/** Journal entries as the dashboard tells them. */
import type { JournalEntry, JournalNews } from '../../act/journal.ts';
import type { DecisionTold } from './answers.ts';
import type { WorkloadAnswer } from './workload-answer.ts';

export function decisionTold({ workload, entry }: JournalNews): DecisionTold {
  const { firstAt: _, ...told } = entryTold(entry);
  return { workload, ...told };
}

/** Without the figures behind it, which the message has in words. */
export function entryTold({
  kind,
  reason,
  message,
  pod,
  firstAt,
  lastAt,
  count,
}: JournalEntry): WorkloadAnswer['journal'][number] {
  return { at: lastAt, firstAt, kind, reason, message, pod, count };
}

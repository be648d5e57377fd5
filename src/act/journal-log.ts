/**
 * Writes the journal into the log as well: the journal ends with its process, and what was done at night is asked for
 * in the morning. `stowage journal -f` reads these records back.
 */
import type { Logger } from '../lib/log.ts';
import { isDeed, type Journal, type JournalNews } from './journal.ts';

/**
 * What was done or failed at info; what was seen, advised or held back at debug, and once, as it comes back every cycle.
 * @returns the end of it.
 */
export function logJournal(journal: Pick<Journal, 'onRecord'>, log: Logger): () => void {
  return journal.onRecord(({ workload, entry }: JournalNews) => {
    const { kind, reason, message, engine, pod, numbers } = entry;
    const fields = { workload, engine, kind, reason, pod, numbers };
    if (isDeed(kind)) log.info(fields, message);
    else if (entry.count === 1) log.debug(fields, message);
  });
}

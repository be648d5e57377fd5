/** Which entries of the journal are asked for, and the answer, as the operator's `/journal` tells it. */
import { ascending } from '../lib/ascending.ts';
import type { EpochMillis } from '../lib/units.ts';
import { type EngineName, isDeed, type Journal, type JournalEntry, type JournalNews } from './journal.ts';

/** What is left out asks for all. */
export interface JournalQuery {
  /** First instant. */
  readonly from?: EpochMillis | undefined;
  /** Last instant. */
  readonly to?: EpochMillis | undefined;
  readonly namespace?: string | undefined;
  /** Key as made by `workloadKey`. */
  readonly workload?: string | undefined;
  readonly engine?: EngineName | undefined;
  /** Only what was done or failed. */
  readonly onlyDone?: boolean | undefined;
}

export interface JournalAnswer {
  readonly at: EpochMillis;
  readonly isLeader: boolean;
  /** Since when this process leads, and so can know what was done. Absent where it does not. */
  readonly leadingSince?: EpochMillis;
  /** Something that was done up to then is no longer kept. */
  readonly forgottenUntil?: EpochMillis;
  /** Oldest first, by when they last happened. */
  readonly entries: readonly (JournalEntry & { readonly workload: string })[];
  /** Older ones that were asked for and are too many to tell. */
  readonly omitted: number;
}

/** More is no answer for people, and would take the operator long to write. */
export const MAX_TOLD = 5_000;

/** As of this version, or as an operator of another one tells it. */
interface AnyEntry {
  readonly workload: string;
  readonly entry: Pick<JournalEntry, 'kind' | 'firstAt' | 'lastAt'> & { readonly engine?: string | undefined };
}

/** What went on for a while counts where any part of it lies between the two instants. */
export function isAskedFor({ workload, entry }: AnyEntry, query: JournalQuery): boolean {
  const { from = -Infinity, to = Infinity, namespace, engine, onlyDone } = query;
  return (
    entry.lastAt >= from &&
    entry.firstAt <= to &&
    (namespace === undefined || workload.split('/')[1] === namespace) &&
    (query.workload === undefined || workload === query.workload) &&
    (engine === undefined || entry.engine === engine) &&
    (onlyDone !== true || isDeed(entry.kind))
  );
}

/** The newest {@link MAX_TOLD} that are asked for. */
export function askJournal(
  journal: Pick<Journal, 'all' | 'forgottenUntil'>,
  query: JournalQuery,
): Pick<JournalAnswer, 'entries' | 'omitted' | 'forgottenUntil'> {
  const found: JournalNews[] = [];
  for (const news of journal.all()) if (isAskedFor(news, query)) found.push(news);
  found.sort((a, b) => ascending(a.entry.lastAt, b.entry.lastAt));
  const told = found.slice(-MAX_TOLD);
  const { forgottenUntil } = journal;
  return {
    entries: told.map(({ workload, entry }) => ({ workload, ...entry })),
    omitted: found.length - told.length,
    ...(forgottenUntil !== undefined && { forgottenUntil }),
  };
}

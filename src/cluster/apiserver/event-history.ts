/** The recent writes of one kind, oldest first. */
import { firstIndex } from '../../lib/first-index.ts';
import type { ApiObject } from './served-type.ts';

/** One write. With `previous`, watches tell what entered or left their selection, and lists go back in time. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  readonly atMillis: number;
  readonly key: string;
  /** The state after the event; for DELETED the last state, carrying the deletion's revision. */
  readonly object: ApiObject;
  /** The state before; absent for ADDED. */
  readonly previous: ApiObject | undefined;
}

/** Bounded by number here, and by age through `compact`. */
export interface EventHistory {
  push(event: StoreEvent): void;
  /** Events after `revision`; undefined when some of them have been compacted away. */
  after(revision: number): StoreEvent[] | undefined;
  /** Forgets events up to and including `revision`. */
  compact(revision: number): void;
  /** The highest revision whose history is gone. */
  compactedRevision(): number;
}

export function createEventHistory(limit: number, startRevision: number): EventHistory {
  let events: StoreEvent[] = [];
  /** Where they begin to count; what lies before is dropped in bulk. */
  let start = 0;
  let compacted = startRevision;
  const firstAfter = (revision: number): number =>
    firstIndex(events.length, (index) => (events[index]?.revision ?? 0) > revision, start);
  return {
    push(event) {
      events.push(event);
      while (events.length - start > limit) {
        compacted = events[start]?.revision ?? compacted;
        start++;
      }
      // Amortised: the array is cut only when half of it is dead.
      if (start > 1_024 && start * 2 > events.length) {
        events = events.slice(start);
        start = 0;
      }
    },
    after: (revision) => (revision < compacted ? undefined : events.slice(firstAfter(revision))),
    compact(revision) {
      start = firstAfter(revision);
      compacted = Math.max(compacted, revision);
    },
    compactedRevision: () => compacted,
  };
}

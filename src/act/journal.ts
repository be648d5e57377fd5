/**
 * The decision journal: per workload a bounded memory of what was seen, decided, blocked or done, and why. Status,
 * dashboard and `stowage explain` read it. In memory only, and of this process: a new leader begins with an empty one.
 */
import type { Clock } from '../lib/clock.ts';
import { createTextInterner } from '../lib/text-interner.ts';
import type { EpochMillis } from '../lib/units.ts';
import { KeptEntry } from './kept-entry.ts';

export const journalKinds = ['seen', 'decided', 'blocked', 'done', 'failed'] as const;
export type JournalKind = (typeof journalKinds)[number];

/** The engines, as the journal names them. */
export const engineNames = ['placement', 'rightsizing', 'allocation'] as const;
export type EngineName = (typeof engineNames)[number];

/** What happened, as given to {@link Journal.record}. */
export interface JournalInput {
  readonly kind: JournalKind;
  /** Reason of the table (lib/reasons.ts), or the name of the action. */
  readonly reason: string;
  /** One sentence for people. */
  readonly message: string;
  /** Name of the pod it is about. */
  readonly pod?: string;
  /** The figures behind it. */
  readonly numbers?: Readonly<Record<string, number | string | boolean>>;
  /** Whose doing it is; filled in by {@link journalOf}. */
  readonly engine?: EngineName;
}

/** An entry with the workload it is about. */
export interface JournalNews {
  /** Key as made by `workloadKey`. */
  readonly workload: string;
  readonly entry: JournalEntry;
}

/** An entry as kept. The same thing happening again is counted, not repeated, so 64 of an engine cover days. */
export interface JournalEntry extends JournalInput {
  readonly firstAt: EpochMillis;
  readonly lastAt: EpochMillis;
  readonly count: number;
}

export interface Journal {
  /** @param workload key as made by `workloadKey`. */
  record(workload: string, input: JournalInput): void;
  /** Oldest first, by when they last happened; empty for a workload never heard of. Plain data, ready for JSON. */
  entries(workload: string): readonly JournalEntry[];
  /** The newest entries of all workloads, newest first. */
  recent(limit: number): readonly JournalNews[];
  /** All that is kept, in no order. */
  all(): Iterable<JournalNews>;
  /** Told of each record, repeated ones too, as it is made. Must not throw. Returns the end of the subscription. */
  onRecord(listener: (news: JournalNews) => void): () => void;
  /** Forgets a workload that is gone. */
  forget(workload: string): void;
  /** When the newest of what was done or failed, and is no longer kept, happened; undefined: all of it is kept. */
  readonly forgottenUntil: EpochMillis | undefined;
  /** Number of workloads remembered. */
  readonly size: number;
}

export interface JournalOptions {
  readonly clock: Clock;
  /** Entries kept per workload and engine, so that one that acts often does not push out the others'; default 64. */
  readonly maxEntries?: number;
  /** Workloads remembered; the one longest without news is forgotten beyond it. Default 5,000. */
  readonly maxWorkloads?: number;
  /**
   * Entries kept of all workloads; default 20,000, about 3 MB. Beyond it those who go on acting keep fewer, but
   * {@link LEAST_ENTRIES}.
   */
  readonly maxTotal?: number;
}

/** What is kept of a workload and engine, however many there are. */
export const LEAST_ENTRIES = 8;

/** Of what is kept, so much is left to what was seen, advised or held back where more was done. */
const TALK_SHARE = 0.25;
/** Sentences of the table of reasons, with whatever names stand in them. */
const MAX_PATTERNS = 5_000;

export function createJournal(options: JournalOptions): Journal {
  const { clock, maxEntries = 64, maxWorkloads = 5_000, maxTotal = 20_000 } = options;
  // Insertion order is order of news: each record moves its workload to the end.
  const rings = new Map<string, KeptEntry[]>();
  const listeners = new Set<(news: JournalNews) => void>();
  const beganAt = clock.now();
  const patterns = createTextInterner(MAX_PATTERNS);
  let total = 0;
  let forgottenUntil: EpochMillis | undefined;
  const drop = (entries: readonly KeptEntry[]): void => {
    total -= entries.length;
    for (const { kind, lastMillis } of entries)
      if (isDeed(kind)) forgottenUntil = Math.max(forgottenUntil ?? Number.NEGATIVE_INFINITY, beganAt + lastMillis);
  };
  const forget = (workload: string): void => {
    drop(rings.get(workload) ?? []);
    rings.delete(workload);
  };
  /**
   * Lets the oldest go that are too many, of the engine that has just added one. What was said and not done comes with
   * every change of a figure: where it has more than its part, it goes first.
   */
  const trim = (ring: KeptEntry[], by: EngineName | undefined): void => {
    if (ring.length <= maxEntries && total <= maxTotal) return;
    const count = ring.reduce((sum, { engine }) => (engine === by ? sum + 1 : sum), 0);
    // Two for the one that came, so that there is room for those who have few.
    const most = total > maxTotal ? Math.min(maxEntries, Math.max(LEAST_ENTRIES, count - 2)) : maxEntries;
    const isTalk = ({ engine, kind }: KeptEntry): boolean => engine === by && !isDeed(kind);
    for (let excess = count - most; excess > 0; excess--) {
      const talk = ring.reduce((sum, entry) => (isTalk(entry) ? sum + 1 : sum), 0);
      const isTooMuch = talk > most * TALK_SHARE;
      const oldest = ring.findIndex((entry) => entry.engine === by && isTalk(entry) === isTooMuch);
      drop(ring.splice(oldest, 1));
    }
  };
  return {
    record(workload, input) {
      const now = clock.now();
      const earlier = rings.get(workload) ?? [];
      // Blocks and observations come back every cycle, in turns; actions are never merged.
      const known = isRepeatable(input.kind) ? earlier.findLastIndex((entry) => isSame(entry, input)) : -1;
      const before = earlier[known];
      const firstAt = before === undefined ? now : beganAt + before.firstMillis;
      const entry: JournalEntry = { ...input, firstAt, lastAt: now, count: (before?.count ?? 0) + 1 };
      // Not pushed: a list that grows takes room for 16 more, and there is one of each workload.
      const ring = earlier.filter((each) => each !== before).concat(new KeptEntry(entry, beganAt, patterns));
      rings.delete(workload);
      rings.set(workload, ring);
      if (before === undefined) {
        total++;
        trim(ring, input.engine);
      }
      if (rings.size > maxWorkloads) {
        const oldest = rings.keys().next();
        if (oldest.done !== true) forget(oldest.value);
      }
      for (const listener of listeners) listener({ workload, entry });
    },
    recent(limit) {
      // Each of the newest `limit` entries is of one of the `limit` workloads that had news last.
      return [...rings.keys()]
        .slice(Math.max(0, rings.size - limit))
        .flatMap((workload) => (rings.get(workload) ?? []).map((kept) => ({ workload, kept })))
        .sort((a, b) => b.kept.lastMillis - a.kept.lastMillis)
        .slice(0, limit)
        .map(({ workload, kept }) => ({ workload, entry: kept.plain(beganAt) }));
    },
    *all() {
      for (const [workload, ring] of rings) for (const kept of ring) yield { workload, entry: kept.plain(beganAt) };
    },
    onRecord(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    entries: (workload) => (rings.get(workload) ?? []).map((kept) => kept.plain(beganAt)),
    forget,
    get forgottenUntil() {
      return forgottenUntil;
    },
    get size() {
      return rings.size;
    },
  };
}

/** What an engine has to do with the journal. */
export type EngineJournal = Pick<Journal, 'record' | 'entries' | 'forget'>;

/** The journal as one engine writes it: each of its entries names the engine. */
export function journalOf({ record, entries, forget }: EngineJournal, engine: EngineName): EngineJournal {
  return { record: (workload, input) => record(workload, { ...input, engine }), entries, forget };
}

/** Whether something was done, or tried. */
export function isDeed(kind: JournalKind): boolean {
  return kind === 'done' || kind === 'failed';
}

function isRepeatable(kind: JournalKind): boolean {
  return kind === 'seen' || kind === 'blocked';
}

/** The message may tell a changing time; reason and pod say whether it is the same matter. */
function isSame(entry: KeptEntry, input: JournalInput): boolean {
  const { kind, reason, pod, engine } = input;
  return entry.kind === kind && entry.reason === reason && entry.pod === pod && entry.engine === engine;
}

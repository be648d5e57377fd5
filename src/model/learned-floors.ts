/** What earlier decreases have shown to be too little, kept in an annotation of the workload until it expires. */
import { memberOf } from '../lib/is-record.ts';
import { isInstant } from '../lib/rfc3339.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';

/** A request that did harm was this low; the next decrease stops above it (rightsizing bug 20). */
export interface LearnedFloor {
  readonly container: string;
  readonly resource: 'cpu' | 'memory';
  /** Millicores or bytes: not below this. */
  readonly atLeast: number;
  /** It counts until then; what a container needs changes. */
  readonly until: EpochMillis;
}

export interface Lessons {
  readonly floors: readonly LearnedFloor[];
  /** Decreases taken back in a row; each doubles the cooldown before the next. */
  readonly reverts: number;
  /** No node had room for more by a new template: it is not tried again until then. Left out: there was, or it is over. */
  readonly noRoomUntil?: EpochMillis;
}

/** A floor counts this long: a week, so that the busiest day is in it once. */
export const FLOOR_MILLIS: Millis = 7 * 86_400_000;

export const noLessons: Lessons = { floors: [], reverts: 0 };

/** The text of the annotation; undefined where there is nothing to remember. */
export function writeLessons(lessons: Lessons): string | undefined {
  const body = lessonsBody(lessons);
  return body === undefined ? undefined : JSON.stringify(body);
}

/** As part of something larger; undefined where there is nothing to remember. */
export function lessonsBody({ floors, reverts, noRoomUntil }: Lessons): object | undefined {
  if (floors.length === 0 && reverts === 0 && noRoomUntil === undefined) return undefined;
  const entries = floors.map((floor) => [floor.container, floor.resource, floor.atLeast, floor.until]);
  return { floors: entries, reverts, ...(noRoomUntil !== undefined && { noRoomUntil }) };
}

/** Reads the annotation; what cannot be read counts as not there. What has expired at `now` is left out. */
export function readLessons(text: string | undefined, now: EpochMillis): Lessons {
  return text === undefined ? noLessons : readLessonsBody(tryParseJson(text), now);
}

/** See {@link readLessons}. */
export function readLessonsBody(value: unknown, now: EpochMillis): Lessons {
  const [entries, reverts, noRoomUntil] = [
    memberOf(value, 'floors'),
    memberOf(value, 'reverts'),
    memberOf(value, 'noRoomUntil'),
  ];
  if (!Array.isArray(entries)) return noLessons;
  return {
    floors: entries.flatMap(readFloor).filter(({ until }) => until > now),
    reverts: Number.isInteger(reverts) ? Math.max(0, Number(reverts)) : 0,
    ...(isInstant(noRoomUntil) && noRoomUntil > now && { noRoomUntil }),
  };
}

function readFloor(entry: unknown): readonly LearnedFloor[] {
  if (!Array.isArray(entry)) return [];
  const [container, resource, atLeast, until]: unknown[] = entry;
  if (typeof container !== 'string' || (resource !== 'cpu' && resource !== 'memory')) return [];
  if (!isWholeAmount(atLeast) || !isInstant(until)) return [];
  return [{ container, resource, atLeast, until }];
}

/** Requests are whole millicores and bytes; what is larger than any, or 1e400 in the text, can be neither reached nor written. */
function isWholeAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

/** With one floor more; the higher of two for the same resource counts, and the later end. */
export function learn(lessons: Lessons, learned: readonly LearnedFloor[]): Lessons {
  return { ...lessons, floors: joined([...lessons.floors, ...learned]), reverts: lessons.reverts + 1 };
}

/** What several have learned, as what all of them have. */
export function learnedTogether(several: readonly Lessons[]): Lessons {
  return {
    floors: joined(several.flatMap(({ floors }) => floors)),
    reverts: Math.max(0, ...several.map(({ reverts }) => reverts)),
  };
}

function joined(floors: readonly LearnedFloor[]): readonly LearnedFloor[] {
  const byResource = new Map<string, LearnedFloor>();
  for (const floor of floors) {
    const key = `${floor.container}/${floor.resource}`;
    const known = byResource.get(key);
    const atLeast = Math.max(floor.atLeast, known?.atLeast ?? 0);
    byResource.set(key, { ...floor, atLeast, until: Math.max(floor.until, known?.until ?? 0) });
  }
  return [...byResource.values()];
}

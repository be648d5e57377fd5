/**
 * Changes that are being watched, and what of them did harm and is not undone everywhere yet: kept in an annotation of
 * the workload, so that whoever leads next goes on watching and takes back.
 */
import { isCount, isRecord } from '../lib/is-record.ts';
import { isInstant } from '../lib/rfc3339.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';
import type { EpochMillis } from '../lib/units.ts';
import { type KeptSize, readKeptSizes } from './kept-sizes.ts';

/** The part of a watched change that outlives the process; what pods showed when it began is told from them again. */
export interface KeptChange {
  readonly method: 'InPlace' | 'Recreate' | 'Evict';
  readonly phase: 'canary' | 'spread';
  readonly startedAt: EpochMillis;
  /** The pod that has it first, and since when. */
  readonly canary: { readonly uid: string; readonly name: string; readonly at: EpochMillis } | undefined;
  /** What was in force, and what was put in its place. */
  readonly sizes: readonly KeptSize[];
  /** Undefined where nobody told: they were too many, or by a version that did not. */
  readonly pods?: KeptPods | undefined;
}

/** How the pods were when a change began; those that are not named were well, and had not restarted. */
export interface KeptPods {
  /** Restarts of changed containers, by `uid/container`. */
  readonly restarts: ReadonlyMap<string, number>;
  /** Uids of pods that were not ready. */
  readonly unready: ReadonlySet<string>;
}

export interface KeptPart {
  readonly container: string;
  readonly resource: 'cpu' | 'memory';
}

export interface KeptWatch {
  /** The oldest first. */
  readonly changes: readonly KeptChange[];
  /** What did harm, as long as some pod still has it. */
  readonly takenBack: readonly KeptPart[];
}

export const nothingKept: KeptWatch = { changes: [], takenBack: [] };

/** All annotations of an object share 256 KiB; a change of one container takes about 200 characters. */
const MAX_CHARACTERS = 16_384;
const MAX_PARTS = 50;
/** Of restarted containers and of unready pods; each takes about 50 characters. */
export const MAX_TOLD_PODS = 50;

/**
 * The text of the annotation; undefined where nothing is watched. Of more than there is room for, how pods were is left
 * out first, and then the oldest changes are.
 */
export function writeWatch({ changes, takenBack }: KeptWatch): string | undefined {
  if (changes.length === 0 && takenBack.length === 0) return undefined;
  const parts = JSON.stringify(takenBack.slice(-MAX_PARTS).map(({ container, resource }) => [container, resource]));
  let room = MAX_CHARACTERS - parts.length - '{"changes":[],"takenBack":}'.length;
  const entries: string[] = [];
  for (const change of changes.toReversed()) {
    const whole = textOf(change);
    const entry = whole.length < room ? whole : textOf({ ...change, pods: undefined });
    room -= entry.length + 1;
    if (room < 0) break;
    entries.push(entry);
  }
  return `{"changes":[${entries.toReversed().join(',')}],"takenBack":${parts}}`;
}

function textOf({ method, phase, startedAt, canary, sizes, pods }: KeptChange): string {
  return JSON.stringify({
    method,
    phase,
    at: startedAt,
    ...(canary && { first: [canary.uid, canary.name, canary.at] }),
    sizes: Object.fromEntries(sizes.map(({ container, amounts }) => [container, amounts])),
    ...(pods && { pods: { restarts: Object.fromEntries(pods.restarts), unready: [...pods.unready] } }),
  });
}

/** Reads the annotation; entries that cannot be read count as not there. */
export function readWatch(text: string | undefined): KeptWatch {
  if (text === undefined) return nothingKept;
  const value = tryParseJson(text);
  if (!isRecord(value)) return nothingKept;
  const listOf = (entries: unknown): readonly unknown[] => (Array.isArray(entries) ? entries : []);
  return {
    changes: listOf(value['changes']).flatMap(readChange),
    takenBack: listOf(value['takenBack']).flatMap(readPart),
  };
}

function readChange(entry: unknown): readonly KeptChange[] {
  if (!isRecord(entry)) return [];
  const { method, phase, at, first } = entry;
  if (method !== 'InPlace' && method !== 'Recreate' && method !== 'Evict') return [];
  if ((phase !== 'canary' && phase !== 'spread') || !isInstant(at)) return [];
  const sizes = readKeptSizes(entry['sizes']);
  if (sizes.length === 0) return [];
  const pods = readPods(entry['pods']);
  return [{ method, phase, startedAt: at, canary: readCanary(first), sizes, ...(pods && { pods }) }];
}

function readPods(value: unknown): KeptPods | undefined {
  if (!isRecord(value) || !isRecord(value['restarts']) || !Array.isArray(value['unready'])) return undefined;
  const entries = Object.entries(value['restarts']);
  const counts = entries.flatMap(([key, count]) => (isCount(count) ? [[key, count] as const] : []));
  const unready = value['unready'].filter((uid) => typeof uid === 'string');
  const isRead = counts.length === entries.length && unready.length === value['unready'].length;
  return isRead ? { restarts: new Map(counts), unready: new Set(unready) } : undefined;
}

function readCanary(entry: unknown): KeptChange['canary'] {
  if (!Array.isArray(entry)) return undefined;
  const [uid, name, at]: unknown[] = entry;
  return typeof uid === 'string' && typeof name === 'string' && isInstant(at) ? { uid, name, at } : undefined;
}

function readPart(entry: unknown): readonly KeptPart[] {
  if (!Array.isArray(entry)) return [];
  const [container, resource]: unknown[] = entry;
  return typeof container === 'string' && (resource === 'cpu' || resource === 'memory')
    ? [{ container, resource }]
    : [];
}

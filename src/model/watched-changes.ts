/**
 * Changes that are being watched, and what of them did harm and is not undone everywhere yet: kept in an annotation of
 * the workload, so that whoever leads next goes on watching and takes back.
 */
import { isRecord } from '../lib/is-record.ts';
import type { EpochMillis } from '../lib/units.ts';
import { type SizeKey, sizeKeys } from './pod-size.ts';

/** What was in force and what was put in its place. Millicores and bytes; null: there was none. */
export type KeptAmount = readonly [from: number | null, to: number];

/** The part of a watched change that outlives the process; what pods showed when it began is told from them again. */
export interface KeptChange {
  readonly method: 'InPlace' | 'Recreate' | 'Evict';
  readonly phase: 'canary' | 'spread';
  readonly startedAt: EpochMillis;
  /** The pod that has it first, and since when. */
  readonly canary: { readonly uid: string; readonly name: string; readonly at: EpochMillis } | undefined;
  readonly sizes: readonly {
    readonly container: string;
    readonly amounts: Readonly<Partial<Record<SizeKey, KeptAmount>>>;
  }[];
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

/**
 * The text of the annotation; undefined where nothing is watched. Of more than there is room for the oldest are left
 * out.
 */
export function writeWatch({ changes, takenBack }: KeptWatch): string | undefined {
  if (changes.length === 0 && takenBack.length === 0) return undefined;
  const parts = JSON.stringify(takenBack.slice(-MAX_PARTS).map(({ container, resource }) => [container, resource]));
  let room = MAX_CHARACTERS - parts.length - '{"changes":[],"takenBack":}'.length;
  const entries: string[] = [];
  for (const change of changes.toReversed()) {
    const entry = textOf(change);
    room -= entry.length + 1;
    if (room < 0) break;
    entries.push(entry);
  }
  return `{"changes":[${entries.toReversed().join(',')}],"takenBack":${parts}}`;
}

function textOf({ method, phase, startedAt, canary, sizes }: KeptChange): string {
  return JSON.stringify({
    method,
    phase,
    at: startedAt,
    ...(canary && { first: [canary.uid, canary.name, canary.at] }),
    sizes: Object.fromEntries(sizes.map(({ container, amounts }) => [container, amounts])),
  });
}

/** Reads the annotation; entries that cannot be read count as not there. */
export function readWatch(text: string | undefined): KeptWatch {
  if (text === undefined) return nothingKept;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return nothingKept;
  }
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
  if ((phase !== 'canary' && phase !== 'spread') || !isTime(at) || !isRecord(entry['sizes'])) return [];
  const sizes = Object.entries(entry['sizes']).flatMap(([container, given]) => {
    const amounts: Partial<Record<SizeKey, KeptAmount>> = {};
    for (const key of sizeKeys) {
      const amount = isRecord(given) ? given[key] : undefined;
      if (isAmount(amount)) amounts[key] = amount;
    }
    return Object.keys(amounts).length === 0 ? [] : [{ container, amounts }];
  });
  return sizes.length === 0 ? [] : [{ method, phase, startedAt: at, canary: readCanary(first), sizes }];
}

function readCanary(entry: unknown): KeptChange['canary'] {
  if (!Array.isArray(entry)) return undefined;
  const [uid, name, at]: unknown[] = entry;
  return typeof uid === 'string' && typeof name === 'string' && isTime(at) ? { uid, name, at } : undefined;
}

function readPart(entry: unknown): readonly KeptPart[] {
  if (!Array.isArray(entry)) return [];
  const [container, resource]: unknown[] = entry;
  return typeof container === 'string' && (resource === 'cpu' || resource === 'memory')
    ? [{ container, resource }]
    : [];
}

function isTime(value: unknown): value is EpochMillis {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isAmount(value: unknown): value is KeptAmount {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [from, to]: unknown[] = value;
  const isWhole = (amount: unknown): boolean => isTime(amount);
  return (from === null || isWhole(from)) && isWhole(to);
}

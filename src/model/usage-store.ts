/**
 * How remembered usage is laid out where it is saved: in shards by a hash of the workload, each compressed on its own.
 */
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { ascending } from '../lib/ascending.ts';
import { memberOf } from '../lib/is-record.ts';
import { workloadKey } from './cluster-view.ts';
import { isSavedUsage, type SavedUsage } from './saved-usage.ts';
import { isNewerProfile } from './usage-profile.ts';

/** Changes when what is written cannot be read by older versions; others are refused rather than misread. */
export const STORE_VERSION = 1;
/** A ConfigMap holds 1 MiB, and base64 takes four characters for three bytes. */
export const MAX_SHARD_BYTES = 600_000;
/** A profile takes about 1.1 KB compressed: an ordinary shard is a third of what it may be. */
const CONTAINERS_PER_SHARD = 200;
/** Room for 800,000 containers. A larger number in a damaged shard would have as many shards made. */
const MAX_SHARDS = 4096;
/** More than any shard holds when it is unpacked: what claims to be larger is no shard. */
const MAX_UNPACKED_BYTES = 64 << 20;

export interface DecodedShard {
  readonly ok: true;
  readonly items: readonly SavedUsage[];
  /** Entries that were left out because they could not be read. */
  readonly unreadable: number;
  /** Entries that were left out because a later version of Stowage wrote them. */
  readonly newer: number;
  /** Number of shards when it was written. */
  readonly of: number;
}

export type ShardAnswer =
  | DecodedShard
  /** `isNewer`: a later version of Stowage wrote it, and can read it: it must not be written over. */
  | { readonly ok: false; readonly message: string; readonly isNewer: boolean };

export interface ShardLayout {
  readonly count: number;
  /** By index; an index without items is an empty list. */
  readonly shards: readonly (readonly SavedUsage[])[];
}

/**
 * Distributes items over shards, all containers of a workload into the same one: how far its source was read is one for
 * all of them, so they must be written together or not at all. The number of shards is a power of two and never less
 * than `atLeast`, so that it only grows and an item moves only when it does.
 */
export function layOut(items: readonly SavedUsage[], atLeast = 1): ShardLayout {
  let count = 1;
  while (count < atLeast || count * CONTAINERS_PER_SHARD < items.length) count *= 2;
  const shards = Array.from({ length: count }, (): SavedUsage[] => []);
  for (const item of items) shards[shardOf(item, count)]?.push(item);
  for (const shard of shards) shard.sort((a, b) => ascending(identityOf(a), identityOf(b)));
  return { count, shards };
}

/** What one container is saved under: `Deployment/shop/web/app`. */
export function identityOf({ workload, container }: Pick<SavedUsage, 'workload' | 'container'>): string {
  return `${workloadKey(workload)}/${container}`;
}

function shardOf(item: SavedUsage, count: number): number {
  return createHash('sha256').update(workloadKey(item.workload)).digest().readUInt32BE(0) % count;
}

/** What is compressed with gzip, whose own checksum tells a damaged shard. Equal items give equal text. */
export function shardText(items: readonly SavedUsage[], of: number): string {
  return JSON.stringify({ v: STORE_VERSION, of, items });
}

/** Reads a shard; never throws. A shard of which single entries are damaged yields the others. */
export function decodeShard(bytes: Uint8Array): ShardAnswer {
  let value: unknown;
  try {
    value = JSON.parse(gunzipSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES }).toString('utf8'));
  } catch {
    return { ok: false, message: 'it is damaged: not what was written', isNewer: false };
  }
  if (typeof value !== 'object' || value === null || !('v' in value) || !('items' in value)) {
    return { ok: false, message: 'it holds something else than usage', isNewer: false };
  }
  if (value.v !== STORE_VERSION) {
    const message = `it is of version ${JSON.stringify(value.v)}; this version of Stowage reads ${STORE_VERSION}`;
    return { ok: false, message, isNewer: typeof value.v === 'number' && value.v > STORE_VERSION };
  }
  if (!Array.isArray(value.items)) return { ok: false, message: 'it holds no list of containers', isNewer: false };
  const entries: unknown[] = value.items;
  const newer = entries.filter((entry) => isNewerEntry(entry)).length;
  const items = entries.filter(isSavedUsage).filter((item) => !isNewerEntry(item));
  const of = 'of' in value && isShardCount(value.of) ? value.of : 1;
  return { ok: true, items, unreadable: entries.length - items.length - newer, newer, of };
}

function isNewerEntry(entry: unknown): boolean {
  const profile = memberOf(entry, 'profile');
  return typeof profile === 'string' && isNewerProfile(profile);
}

function isShardCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= MAX_SHARDS;
}

/** One item for each container: of several, the one that was read up to the latest. */
export function mergeSaved(items: Iterable<SavedUsage>): SavedUsage[] {
  const latest = new Map<string, SavedUsage>();
  for (const item of items) {
    const id = identityOf(item);
    const known = latest.get(id);
    if (known === undefined || ageOf(item) > ageOf(known)) latest.set(id, item);
  }
  return [...latest.values()];
}

const ageOf = ({ readTo, seenAt }: SavedUsage): number => Math.max(readTo.cpu ?? 0, readTo.memory ?? 0, seenAt);

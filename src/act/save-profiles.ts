/**
 * Keeps remembered usage in ConfigMaps of the operator's namespace, so that a restart goes on where the process ended
 * (rightsizing bugs 2, 3 and 5: memory learned anew from nothing is how workloads ran out of it).
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { ConfigMap } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isNotFound } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import type { Logger } from '../lib/log.ts';
import { workloadKey } from '../model/cluster-view.ts';
import type { SavedUsage } from '../model/saved-usage.ts';
import {
  decodeShard,
  layOut,
  MAX_SHARD_BYTES,
  mergeSaved,
  type ShardAnswer,
  type ShardLayout,
  shardText,
} from '../model/usage-store.ts';

export interface ProfileStore {
  /**
   * All that is saved. A ConfigMap that cannot be read is told of once, and left as it is: until there is newer usage,
   * or for good where a later version of Stowage wrote it.
   * @throws KubeError and transport errors: whoever cannot read must not write.
   */
  load(signal: AbortSignal): Promise<readonly SavedUsage[]>;
  /** What `stowage profiles import` left behind; it is there until {@link dropImports}. */
  loadImports(signal: AbortSignal): Promise<readonly SavedUsage[]>;
  dropImports(signal: AbortSignal): Promise<void>;
  /**
   * Writes the shards that changed, told by their digest: unchanged usage costs no request. Their number only grows, so
   * that a workload keeps its shard. Never rejects but with the signal's reason; a shard that failed is written next
   * time.
   */
  save(items: readonly SavedUsage[], signal: AbortSignal): Promise<SaveOutcome>;
}

/**
 * Numbers of shards. `unchanged` includes those that are left to a later version of Stowage, `failed` those not written
 * because somebody else leads by now.
 */
export interface SaveOutcome {
  readonly written: number;
  readonly unchanged: number;
  readonly failed: number;
}

export interface ProfileStoreOptions {
  readonly api: KubeApi;
  /** The operator's own namespace. */
  readonly namespace: string;
  /** Asked before each write: only one process may own the shards. */
  readonly isLeader: () => boolean;
  readonly log: Logger;
}

/** Followed by the number of the shard, from 0. */
export const STORE_PREFIX = 'stowage-usage-';
export const IMPORT_PREFIX = 'stowage-usage-import-';
const DATA_KEY = 'profiles.json.gz';
const FIELD_MANAGER = 'stowage';
const COMPONENT = 'app.kubernetes.io/component';
const components = { store: 'usage-profiles', import: 'usage-import' } as const;
const LEFT_FOR_NOW =
  'Saved usage is not used; the rest is, and this is left as it is until there is newer usage for it';
const KEPT_FOR_NEWER =
  'A later version of Stowage saved usage that this one cannot read. It is kept for it: usage of these workloads is not saved until the operator is upgraded, or the ConfigMap is deleted and the operator restarted';
const selectorOf = (component: string): string => `app.kubernetes.io/managed-by=stowage,${COMPONENT}=${component}`;

export function createProfileStore({ api, namespace, isLeader, log }: ProfileStoreOptions): ProfileStore {
  /** Digest of what each ConfigMap holds. */
  const held = new Map<string, string>();
  /** ConfigMaps with usage that a later version of Stowage wrote. */
  const newer = new Set<string>();
  /** What is wrong with a ConfigMap, as it was last told. */
  const told = new Map<string, string>();
  let count = 1;

  const list = async (component: string, signal: AbortSignal): Promise<readonly ConfigMap[]> =>
    (await api.list(resources.configMaps, { namespace, labelSelector: selectorOf(component), signal })).items;

  const read = (
    maps: readonly ConfigMap[],
    onShard: (name: string, bytes: Buffer, of: number) => void,
  ): SavedUsage[] => {
    const items: SavedUsage[] = [];
    for (const { metadata, binaryData } of maps) {
      const name = metadata?.name ?? '';
      const bytes = Buffer.from(binaryData?.[DATA_KEY] ?? '', 'base64');
      const shard = decodeShard(bytes);
      const wrong = problemIn(shard);
      const isNewer = shard.ok ? shard.newer > 0 : shard.isNewer;
      if (isNewer) newer.add(name);
      else newer.delete(name);
      if (wrong === undefined) told.delete(name);
      else if (told.get(name) !== wrong) {
        told.set(name, wrong);
        log.warn({ configMap: `${namespace}/${name}`, problem: wrong }, isNewer ? KEPT_FOR_NEWER : LEFT_FOR_NOW);
      }
      if (!shard.ok) continue;
      items.push(...shard.items);
      onShard(name, bytes, shard.of);
    }
    return mergeSaved(items);
  };

  const write = async (name: string, bytes: Buffer, signal: AbortSignal): Promise<boolean> => {
    if (!isLeader()) return false;
    try {
      await api.patch(
        resources.configMaps,
        name,
        { type: 'apply', body: shardObject(name, namespace, components.store, bytes), force: true },
        { namespace, signal, fieldManager: FIELD_MANAGER },
      );
      held.set(name, digestOf(bytes));
      told.delete(name);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      log.warn(
        { configMap: `${namespace}/${name}`, error },
        'Usage could not be saved; it will be with the next round',
      );
      return false;
    }
  };

  return {
    async load(signal) {
      held.clear();
      newer.clear();
      return read(await list(components.store, signal), (name, bytes, of) => {
        held.set(name, digestOf(bytes));
        count = Math.max(count, of);
      });
    },
    loadImports: async (signal) => read(await list(components.import, signal), () => {}),
    async dropImports(signal) {
      for (const { metadata } of await list(components.import, signal)) {
        if (newer.has(metadata?.name ?? '')) continue;
        try {
          await api.delete(resources.configMaps, metadata?.name ?? '', { namespace, signal });
          told.delete(metadata?.name ?? '');
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      }
    },
    async save(items, signal) {
      const outcome = { written: 0, unchanged: 0, failed: 0 };
      const { layout, encoded } = await encodeAll(items, count);
      count = layout.count;
      for (const [index, bytes] of encoded.entries()) {
        const name = `${STORE_PREFIX}${index}`;
        // An empty shard is written only over one that held something.
        const isNeeded = layout.shards[index]?.length !== 0 || held.has(name);
        if (!isNeeded || newer.has(name) || held.get(name) === digestOf(bytes)) outcome.unchanged++;
        else if (await write(name, bytes, signal)) outcome.written++;
        else outcome.failed++;
      }
      return outcome;
    },
  };
}

/** More shards until each fits; the hash spreads workloads evenly, so that is seldom more than one doubling. */
export async function encodeAll(
  items: readonly SavedUsage[],
  atLeast: number,
  maxBytes = MAX_SHARD_BYTES,
): Promise<{ readonly layout: ShardLayout; readonly encoded: readonly Buffer[] }> {
  for (let least = atLeast; ; least *= 2) {
    const layout = layOut(items, least);
    const encoded: Buffer[] = [];
    for (const shard of layout.shards) encoded.push(await compress(shardText(shard, layout.count)));
    const isFitting = encoded.every((bytes, index) => bytes.length <= maxBytes || isOneWorkload(layout.shards[index]));
    if (isFitting) return { layout, encoded };
    least = layout.count;
  }
}

/** About two milliseconds of work: no admission request waits for longer. */
const SLICE_BYTES = 64 << 10;

/**
 * Slice by slice, each a member of its own of one gzip file (RFC 1952, 2.2), and others have their turn in between: all
 * shards take a second or more. Not on other threads: when those are done is told by no clock, and a simulation would
 * never run twice the same way.
 */
async function compress(text: string): Promise<Buffer> {
  const bytes = Buffer.from(text);
  const members: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    members.push(gzipSync(bytes.subarray(from, from + SLICE_BYTES)));
    await setImmediate();
  }
  return Buffer.concat(members);
}

/** What cannot be divided is written whole; beyond 1 MiB the API server says no, and that is told. */
function isOneWorkload(shard: readonly SavedUsage[] = []): boolean {
  return new Set(shard.map(({ workload }) => workloadKey(workload))).size <= 1;
}

/** What of it is not used, and why. */
function problemIn(shard: ShardAnswer): string | undefined {
  if (!shard.ok) return shard.message;
  const { newer, unreadable } = shard;
  if (newer > 0) return `${newer} of its entries are of a later version`;
  return unreadable > 0 ? `${unreadable} of its entries cannot be read` : undefined;
}

function shardObject(name: string, namespace: string, component: string, bytes: Buffer): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { 'app.kubernetes.io/managed-by': 'stowage', [COMPONENT]: component } },
    binaryData: { [DATA_KEY]: bytes.toString('base64') },
  };
}

/** ConfigMaps that hand `items` to the operator, which takes them over and deletes them. */
export async function importObjects(
  items: readonly SavedUsage[],
  namespace: string,
): Promise<{ readonly name: string; readonly object: object }[]> {
  const { encoded } = await encodeAll(items, 1);
  return encoded.map((bytes, index) => {
    const name = `${IMPORT_PREFIX}${index}`;
    return { name, object: shardObject(name, namespace, components.import, bytes) };
  });
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64');

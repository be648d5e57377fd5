/** Keeps the status of resource quotas in step with the objects of their namespace, as the quota controller does. */
import { cloneJson, type JsonObject, objectAt, textOf } from './json.ts';
import type { Reader } from './reader.ts';
import { countKeys, countsObjects } from './rules/object-counts.ts';
import { isInScope } from './rules/quota-scopes.ts';
import { countsForQuota, quotaAmount, quotaText } from './rules/resource-quota.ts';
import type { ApiObject, ServedType } from './served-type.ts';
import type { Storage } from './storage.ts';
import type { TypeRegistry } from './type-registry.ts';
import type { Writer } from './writer.ts';

/** The two types are handed in because the registry may not serve them. */
export interface QuotaStatusOptions {
  readonly storage: Storage;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly registry: TypeRegistry;
  readonly pods: ServedType;
  readonly quotas: ServedType;
}

/** Starts following; usage is written once the write that caused it has been told to all watchers. */
export function followQuotas({ storage, reader, writer, registry, pods, quotas }: QuotaStatusOptions): void {
  const pending = new Set<string>();
  /** Storages of the counted types whose changes are followed. */
  const followed = new Set<string>();

  /** @returns undefined where the key counts no objects of a type served here. */
  const numberOf = (key: string, namespace: string): number | undefined => {
    const type = registry.all().find((each) => countKeys(each).includes(key));
    if (type === undefined || type.source !== undefined || type.review !== undefined) return undefined;
    if (!followed.has(type.storage) && type.storage !== quotas.storage) {
      followed.add(type.storage);
      storage.collection(type).subscribe({ deliver: ({ object }) => changed(object) });
    }
    return reader.list(type, { namespace }).items.length;
  };

  const refresh = (namespace: string): void => {
    pending.delete(namespace);
    const present = reader.list(pods, { namespace }).items.filter(countsForQuota);
    for (const quota of reader.list(quotas, { namespace }).items) {
      const counted = present.filter((pod) => isInScope(pod, quota));
      const hard = objectAt(quota, 'spec', 'hard') ?? {};
      const used: JsonObject = {};
      for (const [key, limit] of Object.entries(hard)) {
        const isCounted = quotaAmount(counted[0] ?? quota, key) !== undefined;
        if (isCounted)
          used[key] = quotaText(
            counted.reduce((sum, pod) => sum + (quotaAmount(pod, key) ?? 0n), 0n),
            textOf(limit),
          );
        else if (countsObjects(quota)) {
          const number = numberOf(key, namespace);
          if (number !== undefined) used[key] = String(number);
        }
      }
      const status = { hard: cloneJson(hard), used };
      if (JSON.stringify(quota['status']) === JSON.stringify(status)) continue;
      writer.amend(quotas, namespace, quota.metadata.name ?? '', (current) => ({ ...current, status }));
    }
  };
  const changed = ({ metadata }: ApiObject): void => {
    const { namespace = '' } = metadata;
    if (pending.has(namespace) || storage.collection(quotas).size() === 0) return;
    pending.add(namespace);
    queueMicrotask(() => refresh(namespace));
  };
  storage.collection(pods).subscribe({ deliver: ({ object }) => changed(object) });
  storage
    .collection(quotas)
    .subscribe({ deliver: ({ object, type }) => (type === 'DELETED' ? undefined : changed(object)) });
}

/** Writing a status that is computed from the cache, when others may have written the object since. */
import type { KubeObject } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isConflict, isNotFound, unless } from '../../api/kube-error.ts';
import type { ResourceType } from '../../api/resources.ts';
import { nameOf, namespaceOf, uidOf } from '../objects.ts';

const MAX_ATTEMPTS = 4;

/**
 * Stores `object` with its status. On a conflict the same status goes onto the newest object: its one writer is this
 * controller, so nothing of anybody else is lost. An object that is gone, or is another one by now, is left alone.
 * Source: pkg/controller/replicaset `updateReplicaSetStatus`.
 */
export async function replaceStatus<T extends KubeObject & { status?: unknown }>(
  api: KubeApi,
  type: ResourceType<T>,
  object: T,
): Promise<void> {
  const options = { namespace: namespaceOf(object), subresource: 'status' };
  let next = object;
  for (let attempt = 1; ; attempt++) {
    try {
      await api.replace(type, next, options);
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error;
    }
    const newest = await getIfSame(api, type, object);
    if (newest === undefined) return;
    next = { ...newest, status: object.status };
  }
}

async function getIfSame<T extends KubeObject>(api: KubeApi, type: ResourceType<T>, object: T): Promise<T | undefined> {
  const newest = await unless(isNotFound, api.get(type, nameOf(object), { namespace: namespaceOf(object) }));
  return newest !== undefined && uidOf(newest) === uidOf(object) ? newest : undefined;
}

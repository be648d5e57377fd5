/** How stand-ins change objects that others write too: field by field, each type by one hand. */
import type { KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import type { ResourceType } from '../api/resources.ts';
import { nameOf, namespaceOf } from './objects.ts';

/** Of objects of one type. Preconditions (uid, resourceVersion) are part of the body. */
export interface ObjectPatches<T extends KubeObject> {
  merge(object: T, body: object): Promise<T>;
  /** Conditions are merged by their type. */
  status(object: T, body: object): Promise<T>;
}

export function patchesOf<T extends KubeObject>(api: KubeApi, type: ResourceType<T>): ObjectPatches<T> {
  const scopeOf = (object: T) => (type.namespaced ? { namespace: namespaceOf(object) } : {});
  return {
    merge: (object, body) => api.patch(type, nameOf(object), { type: 'merge', body }, scopeOf(object)),
    status: (object, body) =>
      api.patch(type, nameOf(object), { type: 'strategic', body }, { ...scopeOf(object), subresource: 'status' }),
  };
}

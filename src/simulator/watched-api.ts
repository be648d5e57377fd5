/** An API client whose every write is seen on its way: what simulations count and judge the operator by. */
import type { KubeApi } from '../api/kube-api.ts';

export type WriteVerb = 'create' | 'patch' | 'replace' | 'delete';

export interface ObservedWrite {
  readonly verb: WriteVerb;
  /** Plural, with the subresource where there is one: `pods/eviction`. */
  readonly resource: string;
  readonly namespace: string;
  /** Empty for creations. */
  readonly name: string;
  /** What is created or put in place; undefined for patches and deletions. */
  readonly body: object | undefined;
  /** Of a patch. */
  readonly subresource?: string | undefined;
}

export interface ApiObserver {
  /** Before any call reaches the server; throws where the server cannot be reached. */
  reach?(): void;
  /** The moment before a write. What it returns is called with whether the server did it. */
  onWrite?(write: ObservedWrite): ((isDone: boolean) => void) | undefined;
}

/** Wraps `api`; lists and watches pass as they are. */
export function watchApi(api: KubeApi, observer: ApiObserver): KubeApi {
  const write = async <T>(
    verb: WriteVerb,
    resource: string,
    name: string,
    namespace: string | undefined,
    body: object | undefined,
    call: () => Promise<T>,
    subresource?: string,
  ): Promise<T> => {
    observer.reach?.();
    const settle = observer.onWrite?.({ verb, resource, name, namespace: namespace ?? '', body, subresource });
    try {
      const answer = await call();
      settle?.(true);
      return answer;
    } catch (error) {
      settle?.(false);
      throw error;
    }
  };
  return {
    ...api,
    async get(type, name, options) {
      observer.reach?.();
      return api.get(type, name, options);
    },
    create: (type, object, options) =>
      write('create', type.plural, '', options?.namespace, object, () => api.create(type, object, options)),
    patch: (type, name, patch, options) =>
      write(
        'patch',
        type.plural,
        name,
        options?.namespace,
        undefined,
        () => api.patch(type, name, patch, options),
        options?.subresource,
      ),
    replace: (type, object, options) =>
      write('replace', type.plural, object.metadata?.name ?? '', options?.namespace, object, () =>
        api.replace(type, object, options),
      ),
    delete: (type, name, options) =>
      write('delete', type.plural, name, options?.namespace, undefined, () => api.delete(type, name, options)),
    createSubresource: (type, name, subresource, body, options) =>
      write('create', `${type.plural}/${subresource}`, name, options?.namespace, body, () =>
        api.createSubresource(type, name, subresource, body, options),
      ),
  };
}

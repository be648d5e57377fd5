/** An API client whose every write is seen on its way: what simulations count and judge the operator by. */
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';

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

/** What became of a write. Where the connection broke nobody knows: it may have been done. */
export type WriteOutcome =
  | { readonly kind: 'done'; readonly answer: unknown }
  | { readonly kind: 'refused' | 'unknown' };

/** Told once of what became of the write it was made for. */
export type SettleWrite = (outcome: WriteOutcome) => void;

export interface ApiObserver {
  /** Before any call reaches the server; throws where the server cannot be reached. */
  reach?(): void;
  /** The moment before a write; throws where the server cannot be reached. */
  onWrite?(write: ObservedWrite): SettleWrite | undefined;
  /** Before a list, or before a watch that begins. */
  onRead?(verb: 'list' | 'watch', resource: string): void;
}

/** Wraps `api`. */
export function watchApi(api: KubeApi, observer: ApiObserver): KubeApi {
  const write = async <T>(
    { namespace, ...what }: Omit<ObservedWrite, 'namespace'> & { readonly namespace: string | undefined },
    call: () => Promise<T>,
  ): Promise<T> => {
    observer.reach?.();
    const settle = observer.onWrite?.({ ...what, namespace: namespace ?? '' });
    try {
      const answer = await call();
      settle?.({ kind: 'done', answer });
      return answer;
    } catch (error) {
      settle?.({ kind: error instanceof KubeError ? 'refused' : 'unknown' });
      throw error;
    }
  };
  return {
    ...api,
    async get(type, name, options) {
      observer.reach?.();
      return api.get(type, name, options);
    },
    async list(type, options) {
      observer.onRead?.('list', type.plural);
      return api.list(type, options);
    },
    watch(type, options) {
      observer.onRead?.('watch', type.plural);
      return api.watch(type, options);
    },
    create: (type, body, options) =>
      write({ verb: 'create', resource: type.plural, name: '', namespace: options?.namespace, body }, () =>
        api.create(type, body, options),
      ),
    patch: (type, name, patch, options) => {
      const { namespace, subresource } = options ?? {};
      return write({ verb: 'patch', resource: type.plural, name, namespace, body: undefined, subresource }, () =>
        api.patch(type, name, patch, options),
      );
    },
    replace: (type, body, options) =>
      write(
        {
          verb: 'replace',
          resource: type.plural,
          name: body.metadata?.name ?? '',
          namespace: options?.namespace,
          body,
        },
        () => api.replace(type, body, options),
      ),
    delete: (type, name, options) =>
      write({ verb: 'delete', resource: type.plural, name, namespace: options?.namespace, body: undefined }, () =>
        api.delete(type, name, options),
      ),
    createSubresource: (type, name, subresource, body, options) =>
      write(
        { verb: 'create', resource: `${type.plural}/${subresource}`, name, namespace: options?.namespace, body },
        () => api.createSubresource(type, name, subresource, body, options),
      ),
  };
}

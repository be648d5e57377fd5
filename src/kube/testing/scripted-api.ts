/** A KubeApi whose answers a test writes itself, call by call; for informers and reflectors in virtual time. */
import type { KubeObject, Status } from '../../api/core.ts';
import type { KubeApi, ListOptions, ListPage, WatchEvent, WatchOptions } from '../../api/kube-api.ts';
import { KubeError } from '../../api/kube-error.ts';

/** A watch the test feeds. */
export interface ScriptedWatch {
  readonly options: WatchOptions;
  push(...events: WatchEvent<KubeObject>[]): void;
  /** The server ends the watch normally. */
  end(): void;
  fail(error: unknown): void;
  /** Whether the reader left, by its signal or by ending the iteration. */
  readonly isAborted: boolean;
}

export interface ScriptedApi {
  readonly api: KubeApi;
  /** Watches opened so far, oldest first. */
  readonly watches: ScriptedWatch[];
  readonly lists: ListOptions[];
  /** Called for each list; replace it. The default answers an empty list. */
  onList: (options: ListOptions, call: number) => ListPage<KubeObject>;
  /** Called for each watch before it opens; throw to refuse it. */
  onWatch: (options: WatchOptions, call: number) => void;
  /** The newest watch. */
  watch(): ScriptedWatch;
}

/** @param isDeaf watches ignore their signal, as a transport stuck in a read would. */
export function createScriptedApi({ isDeaf = false } = {}): ScriptedApi {
  const watches: ScriptedWatch[] = [];
  const lists: ListOptions[] = [];
  const unused = (): never => {
    throw new Error('This call is not scripted.');
  };
  const scripted: ScriptedApi = {
    watches,
    lists,
    onList: () => ({ items: [], resourceVersion: '1' }),
    onWatch: () => {},
    watch() {
      const newest = watches.at(-1);
      if (newest === undefined) throw new Error('No watch was opened yet.');
      return newest;
    },
    api: {
      get: unused,
      create: unused,
      createSubresource: unused,
      replace: unused,
      patch: unused,
      delete: unused,
      async list(_type, options = {}) {
        options.signal?.throwIfAborted();
        lists.push(options);
        // Scripts speak of plain objects; the caller's type is the type it asked for.
        return scripted.onList(options, lists.length) as ListPage<never>;
      },
      async *watch(_type, options = {}) {
        scripted.onWatch(options, watches.length + 1);
        const source = createSource(options, isDeaf);
        watches.push(source.watch);
        options.onOpen?.();
        yield* source.events as AsyncGenerator<WatchEvent<never>>;
      },
    },
  };
  return scripted;
}

function createSource(options: WatchOptions, isDeaf: boolean) {
  const queue: WatchEvent<KubeObject>[] = [];
  let end: { error?: unknown } | undefined;
  let wake: (() => void) | undefined;
  let isAborted = false;
  const finish = (how: { error?: unknown }): void => {
    end ??= how;
    wake?.();
  };
  options.signal?.addEventListener('abort', () => {
    isAborted = true;
    if (!isDeaf) finish({ error: options.signal?.reason });
  });
  const watch: ScriptedWatch = {
    options,
    push(...events) {
      queue.push(...events);
      wake?.();
    },
    end: () => finish({}),
    fail: (error) => finish({ error }),
    get isAborted() {
      return isAborted;
    },
  };
  async function* events(): AsyncGenerator<WatchEvent<KubeObject>> {
    try {
      for (;;) {
        for (let event = queue.shift(); event !== undefined; event = queue.shift()) yield event;
        if (end !== undefined) {
          if ('error' in end) throw end.error;
          return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      isAborted = true;
    }
  }
  return { watch, events: events() };
}

export function object(name: string, resourceVersion: number, labels: Record<string, string> = {}): KubeObject {
  return { metadata: { namespace: 'ns', name, uid: `uid-${name}`, resourceVersion: String(resourceVersion), labels } };
}

export const added = (name: string, rv: number, labels?: Record<string, string>): WatchEvent<KubeObject> => ({
  type: 'ADDED',
  object: object(name, rv, labels),
});
export const modified = (name: string, rv: number, labels?: Record<string, string>): WatchEvent<KubeObject> => ({
  type: 'MODIFIED',
  object: object(name, rv, labels),
});
export const deleted = (name: string, rv: number): WatchEvent<KubeObject> => ({
  type: 'DELETED',
  object: object(name, rv),
});

export const bookmark = (rv: number): WatchEvent<KubeObject> => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: String(rv) } },
});

export const initialEventsEnd = (rv: number): WatchEvent<KubeObject> => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: String(rv), annotations: { 'k8s.io/initial-events-end': 'true' } } },
});

export const errorEvent = (status: Status): WatchEvent<KubeObject> => ({
  type: 'ERROR',
  object: { kind: 'Status', ...status },
});

export function kubeError(
  code: number,
  reason: string,
  message: string,
  causes: string[] = [],
  retryAfterMillis?: number,
): KubeError {
  const details = { causes: causes.map((cause) => ({ reason: cause, message: cause })) };
  return new KubeError(code, { kind: 'Status', code, reason, message, details }, message, retryAfterMillis);
}

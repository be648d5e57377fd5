/** Stand-in of the namespace controller: empties a namespace that is being deleted, then lets it go. */
import type { Namespace } from '../../api/core.ts';
import { isNotFound, unless } from '../../api/kube-error.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import { createWorkQueue, type HandlerResult } from '../../kube/queue.ts';
import { nameOf } from '../objects.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';

export interface NamespaceOptions {
  /**
   * The types whose objects a namespace takes with it, asked for each time: custom ones come and go.
   * Default: those this project names itself.
   */
  readonly types?: () => readonly ResourceType[];
}

/** Pods end gracefully, so the namespace has to wait for them. */
const RECHECK_MILLIS = 5000;

/** Objects are deleted as any client would, so finalizers and grace periods hold the namespace. */
export function createNamespaceController(
  { api, caches, clock, random, log }: StandInContext,
  { types = () => Object.values(resources) }: NamespaceOptions = {},
): StandIn {
  const name = 'namespace-controller';
  const queue = createWorkQueue({ clock, random, log, name });
  const namespaces = caches.of(resources.namespaces);
  namespaces.onChange((_, after) => {
    if (after?.metadata?.deletionTimestamp !== undefined) queue.add(nameOf(after));
  });

  /** Deletes everything; resolves to how much is still there. */
  const empty = async (namespace: string): Promise<number> => {
    let left = 0;
    for (const type of types().filter(({ namespaced }) => namespaced)) {
      const { items } = await api.list(type, { namespace });
      for (const item of items) {
        left++;
        if (item.metadata?.deletionTimestamp !== undefined) continue;
        await unless(isNotFound, api.delete(type, nameOf(item), { namespace }));
      }
    }
    return left;
  };

  const finalize = async (namespace: Namespace): Promise<void> => {
    const finalized = { ...namespace, spec: { ...namespace.spec, finalizers: [] } };
    await unless(isNotFound, api.replace(resources.namespaces, finalized, { subresource: 'finalize' }));
  };

  const sync = async (key: string): Promise<HandlerResult> => {
    const namespace = namespaces.get(key);
    if (namespace?.metadata?.deletionTimestamp === undefined) return undefined;
    if ((await empty(key)) > 0) return { requeueAfterMillis: RECHECK_MILLIS };
    await finalize(namespace);
    return undefined;
  };

  return { name, run: (signal) => queue.run(1, sync, signal) };
}

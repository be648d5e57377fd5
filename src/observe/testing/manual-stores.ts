/** Live stores fed by hand: what an informer would deliver, without an API server. */
import type { KubeObject } from '../../api/core.ts';
import type { Informer, InformerHandler } from '../../kube/informer.ts';
import { createStore, type Freshness } from '../../kube/store.ts';
import type { LiveStores } from '../live-stores.ts';
import { createProjections } from '../project.ts';

export interface ManualInformer<T extends KubeObject, R> extends Informer<R> {
  put(object: T): void;
  remove(object: T): void;
  /** @param error what the last attempt to read came to. */
  setFreshness(freshness: Freshness, error?: unknown): void;
}

export function createManualInformer<T extends KubeObject, R>(
  project: (object: T) => R | undefined,
): ManualInformer<T, R> {
  const local = createStore(project);
  const handlers = new Set<InformerHandler<R>>();
  let lastError: unknown;
  local.setState('fresh');
  return {
    store: local.store,
    onSynced: Promise.resolve(),
    subscribe(handler) {
      handlers.add(handler);
      for (const key of local.store.keys()) handler.onChange(key, undefined, local.store.get(key));
      return () => handlers.delete(handler);
    },
    freshness: () => local.store.state,
    lastContactMillis: () => 0,
    lastError: () => lastError,
    run: async () => {},
    put(object) {
      const change = local.upsert(object);
      if (change !== undefined)
        for (const handler of handlers) handler.onChange(change.key, change.before, change.after);
    },
    remove(object) {
      const change = local.remove(object);
      if (change !== undefined)
        for (const handler of handlers) handler.onChange(change.key, change.before, change.after);
    },
    setFreshness(freshness, error) {
      lastError = error;
      local.setState(freshness);
    },
  };
}

/** All stores of the live view, empty and fresh. */
export function createManualStores({ sizing = false } = {}) {
  const project = createProjections(
    (message) => {
      throw new Error(message);
    },
    { sizing },
  );
  return {
    pods: createManualInformer(project.pod),
    nodes: createManualInformer(project.node),
    namespaces: createManualInformer(project.namespace),
    deployments: createManualInformer(project.deployment),
    statefulSets: createManualInformer(project.statefulSet),
    replicaSets: createManualInformer(project.replicaSet),
    pdbs: createManualInformer(project.pdb),
    claims: createManualInformer(project.claim),
    volumes: createManualInformer(project.volume),
  } satisfies LiveStores;
}

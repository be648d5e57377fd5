/**
 * Owners of pods that the caches do not show yet, and their namespaces: the first pods of a new workload arrive before
 * its ReplicaSet does. Admitted unsteered instead, they were what the system this replaces had to evict again (Spotalis
 * B10).
 */
import type { KubeApi } from '../api/kube-api.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { createDeferred } from '../lib/deferred.ts';
import { describeError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Millis } from '../lib/units.ts';
import type { ClusterView } from '../model/cluster-view.ts';
import { type OwnerResolution, resolveOwner } from '../model/owners.ts';
import type { NamespaceRecord, OwnerReference, ReplicaSetRecord, WorkloadRecord } from '../model/records.ts';
import type { Projections } from '../observe/project.ts';

/**
 * Owners of pods under creation. Watches lag: a new ReplicaSet asks for its first pods before the cache has heard of
 * it.
 */
export interface LiveOwners {
  /** The caches, completed by the owners read live. */
  readonly view: ClusterView;
  /**
   * Follows the owner to its workload, reading live what the caches lack.
   * @returns `not-cached` when that did not succeed within the budget.
   */
  resolve(namespace: string, owner: OwnerReference | undefined): OwnerResolution | Promise<OwnerResolution>;
}

export interface LiveOwnersOptions {
  readonly view: ClusterView;
  readonly api: KubeApi;
  readonly projections: Projections;
  /** The type of an owner of another kind that may be read; left out, there are no others. */
  readonly ownerTypeOf?: (owner: OwnerReference) => ResourceType | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** For all reads of one resolution together: what is left of the API server's patience must do for the decision. */
  readonly budgetMillis: Millis;
}

/** Owners read live are only a bridge until the watch delivers them. */
const KEEP_MILLIS = 60_000;
const MAX_KEPT = 1_000;
/**
 * Reads under way at once. Anybody who reaches the port may name owners that are not there: that must not use up what
 * the operator may ask of its API server.
 */
const MAX_READS = 100;
/** The object is not validated yet: anything may stand where the name of an owner should. */
const NAME = /^[a-z0-9][-.a-z0-9]{0,252}$/;

interface Kept<R> {
  readonly record: R;
  readonly until: number;
}

export function createLiveOwners(options: LiveOwnersOptions): LiveOwners {
  const { api, projections, clock, log, budgetMillis, ownerTypeOf = () => undefined } = options;
  const cached = options.view;
  const replicaSets = new Map<string, Kept<ReplicaSetRecord>>();
  const workloads = new Map<string, Kept<WorkloadRecord>>();
  const namespaces = new Map<string, Kept<NamespaceRecord>>();
  /** One read per owner, however many of its pods wait for it. */
  const reading = new Map<string, Promise<void>>();

  const keep = <R>(kept: Map<string, Kept<R>>, uid: string, record: R): void => {
    const now = clock.now();
    for (const [known, { until }] of kept) if (until <= now || kept.size >= MAX_KEPT) kept.delete(known);
    kept.set(uid, { record, until: now + KEEP_MILLIS });
  };

  /** Not of what is older: it may have been deleted since, or made anew by the same name. */
  const isBridge = ({ until }: Kept<unknown>): boolean => clock.now() < until;
  const recordOf = <R>(kept: ReadonlyMap<string, Kept<R>>, key: string): R | undefined => {
    const known = kept.get(key);
    return known !== undefined && isBridge(known) ? known.record : undefined;
  };

  const read = async (namespace: string, owner: OwnerReference): Promise<void> => {
    const { kind, name, uid } = owner;
    if (kind === 'ReplicaSet') {
      const record = projections.replicaSet(await api.get(resources.replicaSets, name, { namespace }));
      if (record?.uid === uid) keep(replicaSets, uid, record);
    } else if (kind === 'Deployment') {
      const record = projections.deployment(await api.get(resources.deployments, name, { namespace }));
      if (record?.uid === uid) keep(workloads, uid, record);
    } else if (kind === 'StatefulSet') {
      const record = projections.statefulSet(await api.get(resources.statefulSets, name, { namespace }));
      if (record?.uid === uid) keep(workloads, uid, record);
    } else {
      const type = ownerTypeOf(owner);
      const record = type === undefined ? undefined : projections.owner(type)(await api.get(type, name, { namespace }));
      if (record?.uid === uid) keep(workloads, uid, record);
    }
  };

  const once = (key: string, what: object, readIt: () => Promise<void>): Promise<void> => {
    const running = reading.get(key);
    if (running !== undefined) return running;
    if (reading.size >= MAX_READS) return Promise.resolve();
    const started = readIt()
      .catch((error: unknown) => {
        log.warn({ ...what, error: describeError(error) }, 'What a pod belongs to could not be read');
      })
      .finally(() => reading.delete(key));
    reading.set(key, started);
    return started;
  };
  const readOnce = (namespace: string, owner: OwnerReference): Promise<void> => {
    const { kind, name, uid } = owner;
    // All of it: whoever names a known uid beside a wrong name must not have others wait for that.
    return once([namespace, kind, name, uid].join('/'), { namespace, kind, name }, () => read(namespace, owner));
  };
  const readNamespace = (name: string): Promise<void> =>
    once(name, { kind: 'Namespace', name }, async () => {
      // Listed: the watch has the right to, and none to get.
      const { items } = await api.list(resources.namespaces, { fieldSelector: `metadata.name=${name}` });
      const record = items.flatMap((item) => projections.namespace(item) ?? []).find((each) => each.name === name);
      if (record !== undefined) keep(namespaces, name, record);
    });
  /** The API server asks us about its pods, so it should be there. */
  const lacksNamespace = (name: string): boolean => view.namespace(name) === undefined && cached.freshness().synced;

  const view: ClusterView = {
    ...cached,
    namespace: (name) => cached.namespace(name) ?? recordOf(namespaces, name),
    replicaSet: (uid) => cached.replicaSet(uid) ?? recordOf(replicaSets, uid),
    workloadByUid: (uid) => cached.workloadByUid(uid) ?? recordOf(workloads, uid),
    replicaSetsOf(workloadUid) {
      const known = cached.replicaSetsOf(workloadUid);
      if (replicaSets.size === 0) return known;
      const extra = [...replicaSets.values()]
        .filter(isBridge)
        .flatMap(({ record }) =>
          record.owner?.uid === workloadUid && cached.replicaSet(record.uid) === undefined ? [record] : [],
        );
      return extra.length === 0 ? known : [...known, ...extra];
    },
  };

  const resolveLive = async (namespace: string, owner: OwnerReference): Promise<OwnerResolution> => {
    const overdue = createDeferred<void>();
    const timer = clock.setTimer(budgetMillis, overdue.resolve);
    const deadline = clock.now() + budgetMillis;
    const asking = lacksNamespace(namespace) ? readNamespace(namespace) : undefined;
    try {
      let resolution = resolveOwner(view, namespace, owner);
      // Pod -> ReplicaSet -> Deployment: two reads at most.
      for (let step = 0; step < 2 && resolution.kind === 'not-cached' && clock.now() < deadline; step++) {
        await Promise.race([readOnce(namespace, resolution.owner), overdue.promise]);
        resolution = resolveOwner(view, namespace, owner);
      }
      await Promise.race([asking, overdue.promise]);
      return resolution;
    } finally {
      timer.cancel();
    }
  };

  return {
    view,
    resolve(namespace, owner) {
      const resolution = resolveOwner(view, namespace, owner);
      if (owner === undefined || resolution.kind === 'unmanaged') return resolution;
      if (resolution.kind === 'workload' && !lacksNamespace(namespace)) return resolution;
      return NAME.test(owner.name) ? resolveLive(namespace, owner) : { kind: 'unmanaged' };
    },
  };
}

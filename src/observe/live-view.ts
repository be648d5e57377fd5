/** The live ClusterView: indexes over the informers' stores, and word of which workloads a change concerns. */
import { compileLabelSelector, type LabelMatcher } from '../api/label-selector.ts';
import type { Informer } from '../kube/informer.ts';
import { type ClusterView, type Freshness, type WorkloadRef, workloadKey } from '../model/cluster-view.ts';
import type { NodeRecord, PdbRecord, PodRecord, ReplicaSetRecord, WorkloadRecord } from '../model/records.ts';
import { freshnessOf } from './joined-informer.ts';
import type { LiveStores } from './live-stores.ts';
import { createNodeUsageIndex } from './node-usage.ts';
import type { OwnerStores } from './owner-stores.ts';
import { createPredecessorIndex } from './predecessor-index.ts';
import { joinClaim } from './project-cluster.ts';
import { createRecordIndex } from './record-index.ts';

/**
 * What a change in the cluster may alter: the placement of one workload, or the capacity every workload could use. A
 * workload is named again for each of its pods, so whoever listens gathers changes for a moment.
 */
export type ViewChange =
  | { readonly kind: 'workload'; readonly key: string }
  | { readonly kind: 'workload-deleted'; readonly key: string; readonly uid: string }
  | { readonly kind: 'capacity' };

/** A type whose objects are not known, or no longer followed. */
export interface UnreadStore {
  /** Name of its store, e.g. `pods`. */
  readonly name: string;
  /** What the last attempt to read it came to; undefined before the first one has ended. */
  readonly error: unknown;
}

/** The cluster as the informers have it now. What it answers is of one moment only: after an await it may differ. */
export interface LiveView extends ClusterView {
  workloadsIn(namespace: string): readonly WorkloadRecord[];
  /**
   * Called synchronously for every change, after the view shows it. Returns the function that ends the subscription.
   * Listeners must not throw and must not take long: the API server's events wait for them.
   */
  onChange(listener: (change: ViewChange) => void): () => void;
  /**
   * Called for every pod added, changed or removed, after the view shows it: the hook of incremental counters. One that
   * was made anew under the same name is first told gone, then there.
   */
  onPod(listener: (before: PodRecord | undefined, after: PodRecord | undefined) => void): () => void;
  /** Called for every node added, changed or removed, after the view shows it. */
  onNode(listener: (before: NodeRecord | undefined, after: NodeRecord | undefined) => void): () => void;
  /** Stores that are not fresh, whether they never were or are no more; empty when all is known. */
  unread(): readonly UnreadStore[];
  /** Resolves when every store has had its first complete list; rejects when the view is stopped before. */
  readonly onSynced: Promise<void>;
  /** Runs all informers until `signal` aborts. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Builds the view. The indexes start empty and fill as the informers deliver.
 * @param owners other owners of ReplicaSets; left out, there are none.
 * @param ownNamespace of the operator; left out, it is not known.
 */
export function createLiveView(stores: LiveStores, owners?: OwnerStores, ownNamespace?: string): LiveView {
  const fixed: readonly (readonly [string, Informer<unknown>])[] = Object.entries(stores);
  const informers = (): readonly (readonly [string, Informer<unknown>])[] => {
    const followed = owners?.active() ?? [];
    return followed.length === 0
      ? fixed
      : [...fixed, ...followed.map(({ type, informer }) => [type.plural, informer] as const)];
  };
  const podsByOwner = createRecordIndex<PodRecord>({ groupOf: (pod) => pod.owner?.uid, isSame: hasSameUid });
  const podsByNode = createRecordIndex<PodRecord>({ groupOf: (pod) => pod.nodeName, isSame: hasSameUid });
  const usage = createNodeUsageIndex();
  const predecessors = createPredecessorIndex(ownNamespace);
  const replicaSetsByUid = new Map<string, ReplicaSetRecord>();
  const replicaSetsByOwner = createRecordIndex<ReplicaSetRecord>({
    groupOf: ({ owner }) => owner?.uid,
    isSame: hasSameUid,
  });
  const workloadsByUid = new Map<string, WorkloadRecord>();
  const workloadsByNamespace = createRecordIndex<WorkloadRecord>({
    groupOf: ({ namespace }) => namespace,
    isSame: hasSameUid,
  });
  const pdbsByNamespace = createRecordIndex<PdbRecord>({ groupOf: ({ namespace }) => namespace, isSame: hasSameUid });
  const listeners = new Set<(change: ViewChange) => void>();
  const podListeners = new Set<(before: PodRecord | undefined, after: PodRecord | undefined) => void>();

  const nodeListeners = new Set<(before: NodeRecord | undefined, after: NodeRecord | undefined) => void>();

  const emit = (change: ViewChange): void => {
    for (const listener of listeners) listener(change);
  };
  const touch = (workload: WorkloadRecord | undefined): void => {
    if (workload !== undefined) emit({ kind: 'workload', key: workloadKey(workload) });
  };
  /** The owner of a pod is a workload, or a ReplicaSet of one. */
  const touchOwner = (uid: string | undefined): void => {
    if (uid === undefined) return;
    touch(workloadsByUid.get(uid) ?? workloadsByUid.get(replicaSetsByUid.get(uid)?.owner?.uid ?? ''));
  };
  const touchNamespace = (namespace: string): void => {
    for (const workload of workloadsByNamespace.group(namespace)) touch(workload);
  };

  /** One that was made anew under the same name is first told gone, then there. */
  const noteWorkload = (before: WorkloadRecord | undefined, after: WorkloadRecord | undefined): void => {
    if (before !== undefined && before.uid !== after?.uid) {
      workloadsByUid.delete(before.uid);
      emit({ kind: 'workload-deleted', key: workloadKey(before), uid: before.uid });
    }
    if (after !== undefined) workloadsByUid.set(after.uid, after);
    workloadsByNamespace.apply(before, after);
    touch(after);
  };

  stores.pods.subscribe({
    onChange(_, before, after) {
      podsByOwner.apply(before, after);
      podsByNode.apply(before, after);
      usage.apply(before, after);
      predecessors.apply(before, after);
      const isAnother = before !== undefined && after !== undefined && before.uid !== after.uid;
      for (const listener of podListeners) {
        if (isAnother) listener(before, undefined);
        listener(isAnother ? undefined : before, after);
      }
      touchOwner(before?.owner?.uid);
      if (after?.owner?.uid !== before?.owner?.uid) touchOwner(after?.owner?.uid);
      // Room comes free when a pod leaves its node or ends there.
      if (before?.nodeName !== undefined && (after === undefined || isAnother || after.phase !== before.phase))
        emit({ kind: 'capacity' });
    },
  });
  stores.replicaSets.subscribe({
    onChange(_, before, after) {
      if (before !== undefined && before.uid !== after?.uid) replicaSetsByUid.delete(before.uid);
      if (after !== undefined) replicaSetsByUid.set(after.uid, after);
      replicaSetsByOwner.apply(before, after);
      // One that nobody owns is a workload; it may be adopted, or let go of.
      if (before?.workload !== undefined || after?.workload !== undefined)
        noteWorkload(before?.workload, after?.workload);
      touch(workloadsByUid.get(before?.owner?.uid ?? ''));
      if (after?.owner?.uid !== before?.owner?.uid) touch(workloadsByUid.get(after?.owner?.uid ?? ''));
    },
  });
  for (const source of [stores.deployments, stores.statefulSets, ...(owners === undefined ? [] : [owners])]) {
    source.subscribe({ onChange: (_, before, after) => noteWorkload(before, after) });
  }
  stores.nodes.subscribe({
    onChange(_, before: NodeRecord | undefined, after: NodeRecord | undefined) {
      const name = after?.name ?? before?.name ?? '';
      for (const listener of nodeListeners) listener(before, after);
      for (const pod of podsByNode.group(name)) touchOwner(pod.owner?.uid);
      emit({ kind: 'capacity' });
    },
  });
  stores.namespaces.subscribe({ onChange: (name) => touchNamespace(name) });
  stores.pdbs.subscribe({
    onChange(_, before, after) {
      pdbsByNamespace.apply(before, after);
      const matchers = [before, after].map(matcherOf);
      for (const workload of workloadsByNamespace.group(after?.namespace ?? before?.namespace ?? '')) {
        if (matchers.some((matches) => matches(workload.template.labels))) touch(workload);
      }
    },
  });
  // Where a claim's volume can be reached may be known only after the claim: both decide where a pod may go.
  for (const source of [stores.claims, stores.volumes]) {
    source.subscribe({ onChange: () => emit({ kind: 'capacity' }) });
  }

  const onSynced = Promise.all([...fixed.map(([, informer]) => informer.onSynced), owners?.onSettled]).then(
    () => undefined,
  );
  // Nobody has to wait for it; a stop before the first listing must not count as an unhandled rejection.
  onSynced.catch(() => {});

  const findWorkload = (kind: string, key: string): WorkloadRecord | undefined => {
    if (kind === 'Deployment') return stores.deployments.store.get(key);
    if (kind === 'StatefulSet') return stores.statefulSets.store.get(key);
    if (kind === 'ReplicaSet') return stores.replicaSets.store.get(key)?.workload;
    return owners
      ?.active()
      .find(({ type }) => type.kind === kind)
      ?.informer.store.get(key);
  };

  return {
    freshness: (namespace) => freshnessOfAll(informers(), namespace),
    unread: () => unreadOf(informers()),
    namespace: (name) => stores.namespaces.store.get(name),
    nodes: () => stores.nodes.store.values(),
    node: (name) => stores.nodes.store.get(name),
    workloads: () => workloadsByUid.values(),
    workloadsIn: (namespace) => workloadsByNamespace.group(namespace),
    workload: ({ kind, namespace, name }: WorkloadRef) => findWorkload(kind, `${namespace}/${name}`),
    workloadByUid: (uid) => workloadsByUid.get(uid),
    isOwnerKind: (owner) => owners?.typeOf(owner) !== undefined,
    replicaSet: (uid) => replicaSetsByUid.get(uid),
    replicaSetsOf: (workloadUid) => replicaSetsByOwner.group(workloadUid),
    podsOwnedBy: (ownerUid) => podsByOwner.group(ownerUid),
    pod: (namespace, name) => stores.pods.store.get(`${namespace}/${name}`),
    podsOnNode: (nodeName) => podsByNode.group(nodeName),
    requestedOnNode: usage.of,
    pdbs: (namespace) => pdbsByNamespace.group(namespace),
    predecessors: predecessors.running,
    volumeClaim(namespace, name) {
      const claim = stores.claims.store.get(`${namespace}/${name}`);
      if (claim === undefined) return undefined;
      return joinClaim(claim, claim.volumeName === undefined ? undefined : stores.volumes.store.get(claim.volumeName));
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onPod(listener) {
      podListeners.add(listener);
      return () => podListeners.delete(listener);
    },
    onNode(listener) {
      nodeListeners.add(listener);
      return () => nodeListeners.delete(listener);
    },
    onSynced,
    async run(signal) {
      await Promise.all([...fixed.map(([, informer]) => informer.run(signal)), owners?.run(signal)]);
    },
  };
}

function hasSameUid(a: { readonly uid: string }, b: { readonly uid: string }): boolean {
  return a.uid === b.uid;
}

/** A malformed selector selects nothing here; the guard reports it where it matters. */
function matcherOf(pdb: PdbRecord | undefined): LabelMatcher {
  try {
    return compileLabelSelector(pdb?.selector);
  } catch {
    return () => false;
  }
}

const FRESH: Freshness = { synced: true, stale: [] };

/** Of informers by name. @param namespace see {@link ClusterView.freshness} */
export function freshnessOfAll(
  informers: readonly (readonly [string, Informer<unknown>])[],
  namespace: string | undefined,
): Freshness {
  // Asked for each pod of a pass, and nearly always all is well: that costs nothing.
  if (informers.every(([, informer]) => freshnessOf(informer, namespace) === 'fresh')) return FRESH;
  const states = informers.map(([name, informer]) => [name, freshnessOf(informer, namespace)] as const);
  return {
    synced: states.every(([, state]) => state !== 'initial'),
    stale: states.filter(([, state]) => state === 'stale').map(([name]) => name),
  };
}

/** Of informers by name, those that are not fresh. */
export function unreadOf(informers: readonly (readonly [string, Informer<unknown>])[]): readonly UnreadStore[] {
  return informers.flatMap(([name, informer]) =>
    informer.freshness() === 'fresh' ? [] : [{ name, error: informer.lastError() }],
  );
}

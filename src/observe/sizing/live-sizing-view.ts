/** The live SizingView: the records of the live view with what sizing adds to them. Pods are not held twice. */
import type { Informer } from '../../kube/informer.ts';
import { isUnsettled } from '../../model/awaited-pods.ts';
import { type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import type { NodeRecord, OwnerReference, PodRecord } from '../../model/records.ts';
import { podsOfSized, workloadOfPod } from '../../model/sizing-owners.ts';
import type { LimitRangeRecord, PodSizing, SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { LiveStores } from '../live-stores.ts';
import { freshnessOfAll, type LiveView, type UnreadStore, unreadOf } from '../live-view.ts';
import { createRecordIndex } from '../record-index.ts';
import { plainSizing } from './compact-pod-sizing.ts';
import { verticalPodAutoscalers } from './project-autoscalers.ts';
import type { JobRecord } from './project-sized-workload.ts';
import type { SizingStores } from './sizing-stores.ts';
import { createWorkloadFacts } from './workload-facts.ts';

/** What may change a recommendation, or whether it can be applied. */
export type SizingChange =
  | { readonly kind: 'workload'; readonly key: string }
  | { readonly kind: 'workload-deleted'; readonly key: string; readonly uid: string }
  /** A LimitRange, ResourceQuota or autoscaler of the namespace changed. */
  | { readonly kind: 'bounds'; readonly namespace: string };

/** As the {@link LiveView}: of one moment only. */
export interface LiveSizingView extends SizingView {
  /**
   * Called synchronously for every change of a workload, its pods or its bounds, after the view shows it. Returns the
   * end of the subscription.
   */
  onChange(listener: (change: SizingChange) => void): () => void;
  /** Called for every pod added, changed or removed, after the view shows it. */
  onPod(listener: (before: PodRecord | undefined, after: PodRecord | undefined) => void): () => void;
  /** As of the live view, whose stores are among them. */
  unread(): readonly UnreadStore[];
  /** Resolves when every store, those of the live view included, has had its first complete list. */
  readonly onSynced: Promise<void>;
  /** Runs the informers of sizing until `signal` aborts; those of the live view are run by it. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

export interface LiveSizingViewOptions {
  readonly view: LiveView;
  /** Made with `sizing: true`. */
  readonly stores: Pick<LiveStores, 'namespaces'>;
  readonly sizingStores: SizingStores;
  /**
   * Nodes may not be read (rights for single namespaces): every node that a pod names counts as there, ready and large.
   */
  readonly areNodesHidden?: boolean;
}

export function createSizingView(options: LiveSizingViewOptions): LiveSizingView {
  const { view, stores, sizingStores, areNodesHidden = false } = options;
  const informers: readonly (readonly [string, Informer<unknown>])[] = Object.entries(sizingStores);
  const listeners = new Set<(change: SizingChange) => void>();
  const emit = (change: SizingChange): void => {
    if (change.kind !== 'bounds') unsettled.note(change);
    for (const listener of listeners) listener(change);
  };

  const workloadsByUid = new Map<string, SizedWorkload>();
  const workloadsByNamespace = createRecordIndex<SizedWorkload>({
    groupOf: ({ namespace }) => namespace,
    isSame: (a, b) => a.uid === b.uid,
  });
  const jobsByUid = new Map<string, JobRecord>();
  const jobsByOwner = createRecordIndex<JobRecord>({
    groupOf: ({ owner }) => owner?.uid,
    isSame: (a, b) => a.workload.uid === b.workload.uid,
  });
  const workloadsIn = (namespace: string): readonly SizedWorkload[] => [
    ...view.workloadsIn(namespace).flatMap(({ sized }) => sized ?? []),
    ...workloadsByNamespace.group(namespace),
  ];
  const findWorkload = ({ kind, namespace, name }: WorkloadRef): SizedWorkload | undefined => {
    const key = `${namespace}/${name}`;
    switch (kind) {
      case 'DaemonSet':
        return sizingStores.daemonSets.store.get(key);
      case 'CronJob':
        return sizingStores.cronJobs.store.get(key);
      case 'Job':
        return sizingStores.jobs.store.get(key)?.workload;
      default:
        return view.workload({ kind, namespace, name })?.sized;
    }
  };
  const workloadByUid = (uid: string): SizedWorkload | undefined =>
    workloadsByUid.get(uid) ?? view.workloadByUid(uid)?.sized;
  const unsettled = createWorkloadFacts<true>(
    { workloadsIn, workload: findWorkload, workloadByUid },
    (workload) => isUnsettled(workload, podsOfSized(links, workload)) || undefined,
  );

  const noteWorkload = (before: SizedWorkload | undefined, after: SizedWorkload | undefined): void => {
    workloadsByNamespace.apply(before, after);
    if (before !== undefined && before.uid !== after?.uid) {
      workloadsByUid.delete(before.uid);
      emit({ kind: 'workload-deleted', key: workloadKey(before), uid: before.uid });
    }
    if (after === undefined) return;
    workloadsByUid.set(after.uid, after);
    emit({ kind: 'workload', key: workloadKey(after) });
  };
  const follow = <R>(informer: Informer<R>, note: (before: R | undefined, after: R | undefined) => void): void => {
    informer.subscribe({ onChange: (_, before, after) => note(before, after) });
  };
  follow(sizingStores.daemonSets, noteWorkload);
  follow(sizingStores.cronJobs, noteWorkload);
  follow(sizingStores.jobs, (before, after) => {
    if (before !== undefined && before.workload.uid !== after?.workload.uid) jobsByUid.delete(before.workload.uid);
    if (after !== undefined) jobsByUid.set(after.workload.uid, after);
    jobsByOwner.apply(before, after);
    // Pods of the Job may have been told before it.
    for (const job of [before, after]) {
      const cronJob = workloadsByUid.get(job?.owner?.uid ?? '');
      if (cronJob !== undefined) unsettled.note({ kind: 'workload', key: workloadKey(cronJob) });
    }
    // A Job of a CronJob is not a workload of its own.
    noteWorkload(aloneOf(before), aloneOf(after));
  });

  const inNamespace = <R extends { readonly namespace: string; readonly name: string }>(informer: Informer<R>) => {
    const index = createRecordIndex<R>({ groupOf: ({ namespace }) => namespace, isSame: (a, b) => a.name === b.name });
    follow(informer, (before, after) => {
      index.apply(before, after);
      emit({ kind: 'bounds', namespace: after?.namespace ?? before?.namespace ?? '' });
    });
    return (namespace: string): readonly R[] => index.group(namespace);
  };
  const quotas = inNamespace(sizingStores.quotas);
  const hpas = inNamespace(sizingStores.hpas);
  const vpas = inNamespace(sizingStores.vpas);
  const limitRanges = createRecordIndex<readonly LimitRangeRecord[]>({
    groupOf: ([item]) => item?.namespace,
    isSame: ([a], [b]) => a?.name === b?.name,
  });
  follow(sizingStores.limitRanges, (before, after) => {
    limitRanges.apply(before, after);
    const namespace = (after ?? before)?.[0]?.namespace;
    if (namespace !== undefined) emit({ kind: 'bounds', namespace });
  });

  view.onChange((change) => {
    if (change.kind !== 'capacity') emit(change);
  });
  // The live view does not know these workloads, nor these owners of pods.
  stores.namespaces.subscribe({
    onChange(name) {
      if (listeners.size === 0) return;
      for (const workload of workloadsByNamespace.group(name)) emit({ kind: 'workload', key: workloadKey(workload) });
    },
  });
  view.onPod((before, after) => {
    const owner = (after ?? before)?.owner;
    if (owner === undefined || !OWN_KINDS.has(owner.kind)) return;
    const workload = byUidOrJob(owner);
    if (workload !== undefined) emit({ kind: 'workload', key: workloadKey(workload) });
  });

  /** Pods of a Job count for its CronJob, where it has one. */
  const byUidOrJob = (owner: Pick<OwnerReference, 'uid'>): SizedWorkload | undefined => {
    const job = jobsByUid.get(owner.uid);
    if (job === undefined) return workloadsByUid.get(owner.uid);
    return (job.owner && workloadsByUid.get(job.owner.uid)) ?? job.workload;
  };
  const links = {
    workloadByUid,
    replicaSet: view.replicaSet,
    jobOwner: (uid: string) => jobsByUid.get(uid)?.owner,
    replicaSetsOf: view.replicaSetsOf,
    jobsOf: (uid: string) => jobsByOwner.group(uid).map(({ workload }) => workload.uid),
    podsOwnedBy: view.podsOwnedBy,
  };

  const onSynced = Promise.all([view.onSynced, ...informers.map(([, informer]) => informer.onSynced)]).then(
    () => undefined,
  );
  onSynced.catch(() => {});

  return {
    freshness(namespace) {
      const [{ synced, stale }, own] = [view.freshness(namespace), freshnessOfAll(informers, namespace)];
      return { synced: synced && own.synced, stale: [...stale, ...own.stale] };
    },
    unread: () => [...view.unread(), ...unreadOf(informers)],
    *workloads() {
      for (const { sized } of view.workloads()) if (sized !== undefined) yield sized;
      yield* workloadsByUid.values();
    },
    workloadsIn,
    unsettled: (namespace) => [...unsettled.in(namespace).keys()].flatMap((uid) => workloadByUid(uid) ?? []),
    workload: findWorkload,
    workloadByUid,
    podsOf: (workload) => podsOfSized(links, workload).flatMap(sizedPod),
    workloadOf: (pod) => workloadOfPod(links, pod),
    pod: (namespace, name) => sizedPod(view.pod(namespace, name))[0],
    podsOnNode: (nodeName) => view.podsOnNode(nodeName).flatMap(sizedPod),
    nodes: view.nodes,
    node: areNodesHidden ? hiddenNode : view.node,
    namespace: view.namespace,
    namespaces: () => stores.namespaces.store.values(),
    limitRanges: (namespace) => limitRanges.group(namespace).flat(),
    quotas,
    hpas,
    vpas,
    pdbs: view.pdbs,
    predecessors: view.predecessors,
    unreadable: () => (sizingStores.vpas.refusal() === undefined ? [] : [VPAS]),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onPod: view.onPod,
    onSynced,
    async run(signal) {
      await Promise.all(informers.map(([, informer]) => informer.run(signal)));
    },
  };
}

/**
 * Nothing that is known of it speaks against a resize: API server and kubelet, who see the node, have the last word
 * anyway.
 */
function hiddenNode(name: string): NodeRecord | undefined {
  if (name === '') return undefined;
  return {
    name,
    uid: `hidden/${name}`,
    labels: {},
    taints: [],
    ready: true,
    unschedulable: false,
    deleting: false,
    allocatable: { cpuMillis: Number.POSITIVE_INFINITY, memoryBytes: Number.POSITIVE_INFINITY },
    maxPods: Number.POSITIVE_INFINITY,
    createdAt: 0,
  };
}

const VPAS = `${verticalPodAutoscalers.plural}.${verticalPodAutoscalers.group}`;

/** Kinds that own pods and that placement does not follow. */
const OWN_KINDS: ReadonlySet<string> = new Set(['DaemonSet', 'Job']);

function aloneOf(job: JobRecord | undefined): SizedWorkload | undefined {
  return job === undefined || job.owner?.kind === 'CronJob' ? undefined : job.workload;
}

/** A pod whose sizing part could not be read is not there for sizing: neither resized nor counted for advice. */
function sizedPod(pod: PodRecord | undefined): SizedPod[] {
  const kept = pod?.sizing;
  return pod === undefined || kept === undefined ? [] : [new LiveSizedPod(pod, kept)];
}

/** Its sizing is put together when it is first asked for: most who look at a pod want its record. A spread copies none of it. */
class LiveSizedPod implements SizedPod {
  readonly pod: PodRecord;
  readonly #kept: PodSizing;
  #plain: PodSizing | undefined;

  constructor(pod: PodRecord, kept: PodSizing) {
    this.pod = pod;
    this.#kept = kept;
  }

  get sizing(): PodSizing {
    this.#plain ??= plainSizing(this.#kept);
    return this.#plain;
  }
}

/** Stand-in of the scheduler: gives every pod without a node the best node that can take it. */
import type { Node, Pod } from '../../api/core.ts';
import { isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import type { Timer } from '../../lib/clock.ts';
import { patchesOf } from '../object-patches.ts';
import { findCondition, isSameValue, keyOf, nameOf, namespaceOf, timestampOf, uidOf } from '../objects.ts';
import { isFinished, isSameSpec, isTerminating } from '../pod-state.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';
import { createClusterState, type NodeState } from './cluster-state.ts';
import { failureMessage, prefilterMessage } from './failure-message.ts';
import { createPodFilter } from './filters.ts';
import { searchNodes } from './node-search.ts';
import { type PodInfo, podInfoOf } from './pod-info.ts';
import { createSchedulingQueue } from './scheduling-queue.ts';
import { bestNode } from './scores.ts';
import { SELECTED_NODE_ANNOTATION, storageClasses, volumesOf } from './volumes.ts';

const NODE_WAKE_MILLIS = 1;

export interface SchedulerOptions {
  /** Pods naming another scheduler are left alone. Default `default-scheduler`. */
  readonly schedulerName?: string;
}

type Decision =
  | { readonly node: NodeState }
  | { readonly message: string }
  /** Its volumes are being made; the change of the claims wakes the pod. */
  | { readonly waitsForVolumes: true };

/**
 * One pod at a time, binding in the background, as kube-scheduler. It never preempts: its messages say that no victims
 * were found.
 */
export function createScheduler(context: StandInContext, options: SchedulerOptions = {}): StandIn {
  const { api, caches, clock, random, log } = context;
  const { schedulerName = 'default-scheduler' } = options;
  const cluster = createClusterState();
  const pods = caches.of(resources.pods);
  const podPatches = patchesOf(api, resources.pods);
  const claimPatches = patchesOf(api, resources.persistentVolumeClaims);
  const podKeys = new Map<string, string>();
  /** Chosen a node for, but not yet seen with it. */
  const assumed = new Set<string>();
  let wake: (() => void) | undefined;
  let wakeTimer: Timer | undefined;
  let searchFrom = 0;
  const queue = createSchedulingQueue(clock, () => wake?.());

  const onPod = (before: Pod | undefined, after: Pod | undefined): void => {
    const pod = after ?? before;
    if (pod === undefined) return;
    const uid = uidOf(pod);
    if (before !== undefined && after !== undefined && uidOf(before) !== uidOf(after)) onPod(before, undefined);
    if (after === undefined || isFinished(after)) {
      queue.remove(uid);
      podKeys.delete(uid);
      assumed.delete(uid);
      if (cluster.nodeOf(uid) === undefined) return;
      cluster.removePod(uid);
      queue.wakeAll();
    } else if (after.spec?.nodeName) {
      queue.remove(uid);
      podKeys.delete(uid);
      assumed.delete(uid);
      if (before === undefined || mattersToScheduling(before, after))
        cluster.putPod(podInfoOf(after), after.spec.nodeName);
    } else if (isTerminating(after)) {
      queue.remove(uid);
      podKeys.delete(uid);
    } else if (
      (after.spec?.schedulerName ?? schedulerName) === schedulerName &&
      !assumed.has(uid) &&
      isUngated(after)
    ) {
      podKeys.set(uid, keyOf(after));
      // The scheduler's own condition must not wake the pod it was written for.
      if (
        before === undefined ||
        !isSameSpec(before, after) ||
        !isSameValue(before.metadata?.labels, after.metadata?.labels)
      ) {
        queue.add(after);
      }
    }
  };

  const onNode = (before: Node | undefined, after: Node | undefined): void => {
    if (after === undefined) {
      if (before !== undefined) cluster.removeNode(nameOf(before));
      return;
    }
    const isNews = before === undefined || offerOf(before) !== offerOf(after);
    if (!isNews) return;
    cluster.putNode(after);
    wakeSoon();
  };

  /** Nodes come with daemons: their pods, made in reply to the same event, should be in the queue before room is given away. */
  const wakeSoon = (): void => {
    wakeTimer ??= clock.setTimer(NODE_WAKE_MILLIS, () => {
      wakeTimer = undefined;
      queue.wakeAll();
    });
  };

  pods.onChange(onPod);
  caches.of(resources.nodes).onChange(onNode);
  caches.of(resources.persistentVolumeClaims).onChange(() => queue.wakeAll());
  caches.of(resources.persistentVolumes).onChange(() => queue.wakeAll());
  caches.of(storageClasses).onChange(() => queue.wakeAll());

  const decide = async (info: PodInfo): Promise<Decision> => {
    const found = volumesOf(info, caches);
    if (!found.ok) return { message: prefilterMessage(cluster.nodeCount, found.reason, true) };
    const refuse = createPodFilter(info, cluster, found.volumes);
    const { feasible, refusals, next } = searchNodes([...cluster.nodes()], searchFrom, refuse);
    searchFrom = next;
    const node = bestNode(info, feasible, cluster, random);
    if (node === undefined) return { message: failureMessage(refusals, info.spec.preemptionPolicy) };
    const unordered = found.unbound.filter(
      (claim) => claim.metadata?.annotations?.[SELECTED_NODE_ANNOTATION] === undefined,
    );
    if (found.unbound.length === 0) return { node };
    for (const claim of unordered) {
      await claimPatches.merge(claim, { metadata: { annotations: { [SELECTED_NODE_ANNOTATION]: node.name } } });
    }
    return { waitsForVolumes: true };
  };

  const bind = async (info: PodInfo, node: NodeState): Promise<void> => {
    const { pod, uid } = info;
    const namespace = namespaceOf(pod);
    assumed.add(uid);
    cluster.putPod(info, node.name);
    const target = { apiVersion: 'v1', kind: 'Node', name: node.name };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: nameOf(pod), namespace, uid }, target };
    try {
      await api.createSubresource(resources.pods, nameOf(pod), 'binding', binding, { namespace });
    } catch (error) {
      assumed.delete(uid);
      if (pods.get(keyOf(pod))?.spec?.nodeName === undefined) cluster.removePod(uid);
      if (!isNotFound(error))
        log.warn({ pod: keyOf(pod), node: node.name, error }, 'Binding a pod failed; it will be tried again');
      queue.wakeAll();
    }
  };

  const reportUnschedulable = async (pod: Pod, message: string): Promise<void> => {
    const current = findCondition(pod.status?.conditions, 'PodScheduled');
    if (current?.status === 'False' && current.message === message) return;
    const now = timestampOf(clock.now());
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime: current?.status === 'False' ? current.lastTransitionTime : now,
    };
    const body = { metadata: { uid: uidOf(pod) }, status: { conditions: [condition] } };
    try {
      await podPatches.status(pod, body);
    } catch (error) {
      if (!isNotFound(error)) log.warn({ pod: keyOf(pod), error }, 'Reporting an unschedulable pod failed');
    }
  };

  const scheduleOne = async (uid: string): Promise<void> => {
    const key = podKeys.get(uid);
    const pod = key === undefined ? undefined : pods.get(key);
    if (pod === undefined || uidOf(pod) !== uid || pod.spec?.nodeName || assumed.has(uid)) return;
    const info = podInfoOf(pod);
    // Parked before anything is awaited, so that no change in between goes unnoticed; binding takes it out again.
    queue.park(uid);
    try {
      const decision = await decide(info);
      if ('node' in decision) void bind(info, decision.node);
      else if ('message' in decision) await reportUnschedulable(pod, decision.message);
    } catch (error) {
      log.warn({ pod: key, error }, 'Scheduling a pod failed; it will be tried again');
      queue.wakeAll();
    }
  };

  return {
    name: 'scheduler',
    async run(signal) {
      const onAbort = (): void => wake?.();
      signal.addEventListener('abort', onAbort, { once: true });
      while (!signal.aborted) {
        const uid = queue.pop();
        if (uid !== undefined) await scheduleOne(uid);
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = undefined;
        }
      }
      signal.removeEventListener('abort', onAbort);
      queue.close();
      wakeTimer?.cancel();
    },
  };
}

function isUngated(pod: Pod): boolean {
  return (pod.spec?.schedulingGates ?? []).length === 0;
}

/** Only what counts on its node: requests, labels, leaving. Status reports of the kubelet mostly change none of it. */
function mattersToScheduling(before: Pod, after: Pod): boolean {
  return (
    !isSameSpec(before, after) ||
    isTerminating(before) !== isTerminating(after) ||
    !isSameValue(before.metadata?.labels, after.metadata?.labels) ||
    !isSameValue(heldResources(before), heldResources(after))
  );
}

/** All of the status that a pod's requests are counted from, see {@link podInfoOf}. */
function heldResources({ status }: Pod): unknown {
  const containers = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const pending = findCondition(status?.conditions, 'PodResizePending')?.reason;
  return [
    pending,
    containers.map(({ allocatedResources, resources: actual }) => [allocatedResources, actual?.requests]),
  ];
}

/** What a node offers, as text: heartbeats leave it unchanged. */
function offerOf(node: Node): string {
  const { spec, status, metadata } = node;
  return JSON.stringify([
    metadata?.labels,
    spec?.taints,
    spec?.unschedulable,
    status?.allocatable,
    metadata?.deletionTimestamp,
  ]);
}

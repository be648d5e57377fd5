/** Stand-in of the scheduler: gives every pod without a node the best node that can take it. */
import type { Pod } from '../../api/core.ts';
import { isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { patchesOf } from '../object-patches.ts';
import { keyOf, nameOf, uidOf } from '../objects.ts';
import { isFinished, isTerminating } from '../pod-state.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';
import { createBinder } from './binder.ts';
import { createClusterState } from './cluster-state.ts';
import { failureCondition } from './failure-message.ts';
import { createNodeChoice, type NodeChoice } from './node-choice.ts';
import { type PodInfo, podInfoOf } from './pod-info.ts';
import { isLighterOnNode, isOtherOffer, isOtherOnNode, isOtherToPlace, isToBePlaced } from './scheduling-news.ts';
import { createSchedulingQueue } from './scheduling-queue.ts';
import { SELECTED_NODE_ANNOTATION, storageClasses } from './volumes.ts';

export interface SchedulerOptions {
  /** Pods naming another scheduler are left alone. Default `default-scheduler`. */
  readonly schedulerName?: string;
}

/** One pod at a time, binding in the background, as kube-scheduler. */
export function createScheduler(context: StandInContext, options: SchedulerOptions = {}): StandIn {
  const { api, caches, clock, log } = context;
  const { schedulerName = 'default-scheduler' } = options;
  const cluster = createClusterState(() => caches.of(resources.namespaces).all());
  const pods = caches.of(resources.pods);
  const podPatches = patchesOf(api, resources.pods);
  const claimPatches = patchesOf(api, resources.persistentVolumeClaims);
  let wake: (() => void) | undefined;
  const queue = createSchedulingQueue(clock, () => wake?.());
  const binder = createBinder({ api, pods, cluster, log, onFailed: queue.wakeAll });
  const chooseNode = createNodeChoice({ ...context, cluster });

  const onGone = (uid: string): void => {
    queue.remove(uid);
    binder.settle(uid);
    if (cluster.nodeOf(uid) === undefined) return;
    cluster.removePod(uid);
    queue.wakeAll();
  };

  const onPod = (before: Pod | undefined, after: Pod): void => {
    const uid = uidOf(after);
    const nodeName = after.spec?.nodeName;
    if (isFinished(after)) onGone(uid);
    else if (nodeName) {
      queue.remove(uid);
      binder.settle(uid);
      if (before !== undefined && !isOtherOnNode(before, after)) return;
      cluster.putPod(podInfoOf(after), nodeName);
      if (before !== undefined && isLighterOnNode(before, after)) queue.wakeAll();
    } else if (isTerminating(after)) queue.remove(uid);
    else if (isToBePlaced(after, schedulerName) && !binder.isBinding(uid)) {
      if (before === undefined || isOtherToPlace(before, after)) queue.add(after);
    }
  };

  pods.onChange((before, after) => {
    if (after !== undefined) onPod(before, after);
    else if (before !== undefined) onGone(uidOf(before));
  });
  caches.of(resources.nodes).onChange((before, after) => {
    if (after === undefined) {
      if (before !== undefined) cluster.removeNode(nameOf(before));
    } else if (before === undefined || isOtherOffer(before, after)) {
      cluster.putNode(after);
      // Nodes come with daemons: their pods, made in reply to the same event, go before others get their room.
      queue.wakeAllSoon();
    }
  });
  caches.of(resources.persistentVolumeClaims).onChange(queue.wakeAll);
  caches.of(resources.persistentVolumes).onChange(queue.wakeAll);
  caches.of(storageClasses).onChange(queue.wakeAll);

  /** Where volumes are still to be made for the pod, their claims are told of its node, and wake it as they change. */
  const decide = async (info: PodInfo): Promise<NodeChoice> => {
    const choice = chooseNode(info);
    if (!choice.ok) return choice;
    for (const claim of choice.unbound) {
      if (claim.metadata?.annotations?.[SELECTED_NODE_ANNOTATION] !== undefined) continue;
      await claimPatches.merge(claim, { metadata: { annotations: { [SELECTED_NODE_ANNOTATION]: choice.node.name } } });
    }
    return choice;
  };

  const reportUnschedulable = async (pod: Pod, message: string): Promise<void> => {
    const condition = failureCondition(pod, message, clock.now());
    if (condition === undefined) return;
    try {
      await podPatches.status(pod, { metadata: { uid: uidOf(pod) }, status: { conditions: [condition] } });
    } catch (error) {
      if (!isNotFound(error)) log.warn({ pod: keyOf(pod), error }, 'Reporting an unschedulable pod failed');
    }
  };

  const scheduleOne = async (queued: Pod): Promise<void> => {
    const uid = uidOf(queued);
    const pod = pods.get(keyOf(queued));
    if (pod === undefined || uidOf(pod) !== uid || pod.spec?.nodeName || binder.isBinding(uid)) return;
    const info = podInfoOf(pod);
    // Parked before anything is awaited, so that no change in between goes unnoticed; binding takes it out again.
    queue.park(uid);
    try {
      const choice = await decide(info);
      if (!choice.ok) await reportUnschedulable(pod, choice.message);
      else if (choice.unbound.length === 0) void binder.bind(info, choice.node);
    } catch (error) {
      log.warn({ pod: keyOf(pod), error }, 'Scheduling a pod failed; it will be tried again');
      queue.wakeAll();
    }
  };

  return {
    name: 'scheduler',
    async run(signal) {
      const onAbort = (): void => wake?.();
      signal.addEventListener('abort', onAbort, { once: true });
      while (!signal.aborted) {
        const next = queue.pop();
        if (next !== undefined) await scheduleOne(next);
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = undefined;
        }
      }
      signal.removeEventListener('abort', onAbort);
      queue.close();
    },
  };
}

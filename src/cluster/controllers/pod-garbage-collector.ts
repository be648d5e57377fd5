/** Stand-in of the pod garbage collector: removes pods whose node no longer exists, since no kubelet ever will. */
import type { Pod } from '../../api/core.ts';
import { isNotFound, unless } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { createWorkQueue, type HandlerResult } from '../../kube/queue.ts';
import { patchesOf } from '../object-patches.ts';
import { keyOf, nameOf, namespaceOf, timestampOf, uidOf } from '../objects.ts';
import { isFinished } from '../pod-state.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';

/** A node missing for this long is not coming back. Source: pkg/controller/podgc `quarantineTime`. */
const QUARANTINE_MILLIS = 40_000;

/** Pods of a node that comes back within the quarantine stay. Source: pkg/controller/podgc `gcOrphaned`. */
export function createPodGarbageCollector({ api, caches, clock, random, log }: StandInContext): StandIn {
  const name = 'pod-garbage-collector';
  const queue = createWorkQueue({ clock, random, log, name });
  const nodes = caches.of(resources.nodes);
  const pods = caches.of(resources.pods);
  const missingSince = new Map<string, number>();

  nodes.onChange((before, after) => {
    if (after !== undefined) missingSince.delete(nameOf(after));
    else if (before !== undefined) {
      missingSince.set(nameOf(before), clock.now());
      for (const pod of caches.podsOnNode(nameOf(before))) queue.add(keyOf(pod));
    }
  });
  pods.onChange((before, after) => {
    const nodeName = after?.spec?.nodeName;
    if (after === undefined || nodeName === undefined || before?.spec?.nodeName !== undefined) return;
    if (nodes.get(nodeName) === undefined) queue.addAfter(keyOf(after), QUARANTINE_MILLIS);
  });

  const sync = async (key: string): Promise<HandlerResult> => {
    const pod = pods.get(key);
    const nodeName = pod?.spec?.nodeName;
    if (pod === undefined || nodeName === undefined || nodes.get(nodeName) !== undefined) return undefined;
    const wait = (missingSince.get(nodeName) ?? 0) + QUARANTINE_MILLIS - clock.now();
    if (wait > 0) return { requeueAfterMillis: wait };
    await unless(isNotFound, collect(pod));
    return undefined;
  };

  const collect = async (pod: Pod): Promise<void> => {
    if (!isFinished(pod)) await markFailed(pod);
    const call = { namespace: namespaceOf(pod), uid: uidOf(pod), gracePeriodSeconds: 0 };
    await api.delete(resources.pods, nameOf(pod), call);
  };

  const markFailed = async (pod: Pod): Promise<void> => {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      lastTransitionTime: timestampOf(clock.now()),
    };
    const body = { metadata: { uid: uidOf(pod) }, status: { phase: 'Failed', conditions: [condition] } };
    await patchesOf(api, resources.pods).status(pod, body);
  };

  return { name, run: (signal) => queue.run(2, sync, signal) };
}

/** The node of the chosen pod is what the decision took it for, and stays. */
import { isLive } from '../../model/owners.ts';
import { disruptionRule, evictRule, object, sizeEvictionRule } from '../objection.ts';

/**
 * Hazard H33: whoever drains a node has its pods end already. Hazard H26: a node that says nothing may be back in a
 * minute, with its pods well; asked to go, they would stay terminating until then, and a StatefulSet's could not be
 * made anew. Kubernetes itself waits as long as the pod tolerates it.
 */
export const nodeStays = disruptionRule(
  'node-stays',
  'A leaving node ends its pods itself; ending one earlier only adds a disruption. On one that is not ready none can end.',
  ({ pod }, { view, sides }) => {
    const node = pod.nodeName === undefined ? undefined : view.node(pod.nodeName);
    if (node === undefined) return undefined;
    const cause = sides.leavingCause(node);
    if (cause !== undefined) return object('NodeLeaving', { node: node.name, pod: pod.name, cause });
    return node.ready ? undefined : object('NodeNotReady', { node: node.name, pod: pod.name });
  },
);

/** Hazard H26: labels may come later than pods, and a node may be gone before its pods are. */
export const knownSide = evictRule(
  'known-side',
  'A node that is not known, or of no known class, or of another class than when it was decided, is contradictory data: no disruption.',
  ({ pod, decision }, { view, sides }) => {
    if (pod.nodeName === undefined) return undefined;
    const node = view.node(pod.nodeName);
    const nodeClass = node === undefined ? 'unknown' : sides.classOf(node);
    if (nodeClass === 'unknown') return object('UnknownNodeClass', { node: pod.nodeName });
    return nodeClass === decision.from ? undefined : object('PreconditionFailed', { pod: pod.name });
  },
);

/**
 * Counts pods where they run, not where their stamps say: stamps are wishes. Pods without a node, and on nodes of no
 * known class, keep no promise. Unready ones count, unlike for sizes: they hold a place on on-demand, which is what is
 * promised here.
 */
export const floorKept = evictRule(
  'floor-kept',
  'The floor is a promise: a move away from on-demand must leave enough replicas on nodes known to be on-demand.',
  ({ pods, pod: victim, decision }, { view, sides }) => {
    if (decision.to === 'on-demand' || victim.nodeName === undefined) return undefined;
    const staying = pods.filter((pod) => {
      const node = pod.nodeName === undefined ? undefined : view.node(pod.nodeName);
      return pod.uid !== victim.uid && isLive(pod) && node !== undefined && sides.classOf(node) === 'on-demand';
    });
    return staying.length >= decision.onDemandFloor ? undefined : object('PreconditionFailed', { pod: victim.name });
  },
);

export const floorKeptForSize = sizeEvictionRule(
  'floor-kept-for-size',
  'The floor holds for sizes, too: a pod that is evicted serves nobody until its replacement does. What the floor is asked to be is not known where the annotations are invalid.',
  ({ pods, pod: victim, decision }, { view, sides, policy, settings }) => {
    if (policy.state === 'invalid') {
      const { name: reason, message, advice } = policy.reason;
      return { reason, message, advice, retryAfterMillis: settings.disruptionRetryMillis };
    }
    const { onDemandFloor = 0 } = decision;
    const isServing = (pod: typeof victim): boolean => {
      const node = pod.nodeName === undefined ? undefined : view.node(pod.nodeName);
      return isLive(pod) && pod.ready && node !== undefined && sides.classOf(node) === 'on-demand';
    };
    if (!isServing(victim)) return undefined;
    const left = pods.filter((pod) => pod.uid !== victim.uid && isServing(pod)).length;
    return left >= onDemandFloor
      ? undefined
      : object('OnDemandFloor', { pod: victim.name, left, floor: onDemandFloor });
  },
);

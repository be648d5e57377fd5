/** Proof before move: the replacement has somewhere to go. */
import { isLive } from '../../model/owners.ts';
import { findRoom } from '../../model/scheduling.ts';
import { endRule, evictRule, inWords, object } from '../objection.ts';

export const sideNotInBackoff = evictRule(
  'side-not-in-backoff',
  'A side that found no place for this workload a moment ago is left alone for a while, however good it looks.',
  ({ decision }, { history, now }) => {
    const failed = history.failedMove(decision.workloadUid, decision.to);
    const remaining = failed === undefined ? 0 : failed.retryAt - now;
    return remaining > 0
      ? object('SideInBackoff', { side: decision.to, remaining: inWords(remaining) }, remaining)
      : undefined;
  },
);

export const hasRoom = endRule(
  'has-room',
  'A pod is only ended when its replacement fits on the other side. The dearest question, so it comes late.',
  ({ decision, workload, pod, pods }, { view, sides, settings }) => {
    const siblings = pods.filter((sibling) => sibling.uid !== pod.uid && isLive(sibling));
    const room = findRoom(view, sides, {
      namespace: workload.namespace,
      template: workload.template,
      side: decision.to,
      claims: pod.claims,
      siblingNodes: new Set(siblings.flatMap(({ nodeName }) => nodeName ?? [])),
    });
    // Cover that waits itself has nothing to gain from an autoscaler's promise.
    const isWaiting = decision.kind === 'evict' && decision.isReturn === true && pod.nodeName === undefined;
    if (room.kind === 'node' || (room.kind === 'provisionable' && !isWaiting)) return undefined;
    const detail = room.kind === 'none' ? room.detail : 'no node that is there can take it';
    // A node that gets free tells us by an event; one that becomes free by time alone does not, so ask again.
    const retry = settings.disruptionRetryMillis;
    return object('NoRoomOnSide', { side: decision.to, pod: pod.name, detail }, retry);
  },
);

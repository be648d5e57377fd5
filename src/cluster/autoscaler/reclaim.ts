/** Taking a node away: the notice everybody can see, the drain, and the end. */
import type { Node, Pod } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isConflict, isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { type Clock, pause, sleep } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Caches } from '../caches.ts';
import { controllerOf, nameOf, namespaceOf, uidOf } from '../objects.ts';
import { isFinished, isTerminating } from '../pod-state.ts';
import type { Taint } from '../scheduler/node-matching.ts';

const EVICTION_RETRY_MILLIS = 5000;
const CONFLICT_RETRY_MILLIS = 100;
const FAILURE_RETRY_MILLIS = 5000;

export interface ReclaimContext {
  readonly api: KubeApi;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Adds a taint, or takes it off. Other writers of the node are respected. Conflicts and failures are tried again until it
 * works, the node is gone, or `signal` aborts, upon which it rejects.
 */
export async function setTaint(
  context: ReclaimContext,
  nodeName: string,
  taint: Taint,
  isPresent: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { api, clock } = context;
  while (!signal.aborted) {
    try {
      const node = await api.get(resources.nodes, nodeName);
      const others = (node.spec?.taints ?? []).filter(
        ({ key, effect }) => key !== taint.key || effect !== taint.effect,
      );
      const body = {
        metadata: { resourceVersion: node.metadata?.resourceVersion },
        spec: { taints: isPresent ? [...others, taint] : others },
      };
      await api.patch(resources.nodes, nodeName, { type: 'merge', body });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      await sleep(clock, isConflict(error) ? CONFLICT_RETRY_MILLIS : FAILURE_RETRY_MILLIS, signal);
    }
  }
}

/** Deletes the Node object of a machine that is gone, however often the API fails. Rejects when `signal` aborts. */
export async function removeNodeObject(context: ReclaimContext, nodeName: string, signal: AbortSignal): Promise<void> {
  const { api, clock, log } = context;
  while (!signal.aborted) {
    try {
      await api.delete(resources.nodes, nodeName);
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      log.debug(
        { node: nodeName, reason: describeError(error) },
        'Deleting a node that is gone failed; it will be tried again',
      );
      await sleep(clock, FAILURE_RETRY_MILLIS, signal);
    }
  }
}

/** The event Karpenter's users know. */
export async function recordInterruption({ api, clock, log }: ReclaimContext, node: Node): Promise<void> {
  const name = nameOf(node);
  const event = {
    apiVersion: 'events.k8s.io/v1' as const,
    kind: 'Event' as const,
    metadata: { generateName: `${name}-`, namespace: 'default' },
    eventTime: new Date(clock.now()).toISOString().replace('Z', '000Z'),
    type: 'Warning',
    reason: 'SpotInterrupted',
    action: 'Interrupted',
    note: 'Spot interruption warning was triggered',
    regarding: { apiVersion: 'v1', kind: 'Node', name, uid: uidOf(node) },
    reportingController: 'karpenter',
    reportingInstance: 'simulated',
  };
  try {
    await api.create(resources.events, event, { namespace: 'default' });
  } catch (error) {
    log.warn({ node: name, error }, 'Recording a spot interruption failed');
  }
}

/** Evicts every pod of a node until none is left or `signal` aborts. Budgets may hold pods back; those are tried again. */
export async function drain(context: ReclaimContext, nodeName: string, signal: AbortSignal): Promise<void> {
  const { caches, clock } = context;
  while (!signal.aborted) {
    const staying = [...caches.podsOnNode(nodeName)].filter((pod) => isEvictable(pod));
    if (staying.length === 0) return;
    await Promise.all(staying.map((pod) => evict(context, pod)));
    await pause(clock, EVICTION_RETRY_MILLIS, signal);
  }
}

async function evict({ api, log }: ReclaimContext, pod: Pod): Promise<void> {
  const namespace = namespaceOf(pod);
  const metadata = { name: nameOf(pod), namespace };
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata,
    deleteOptions: { preconditions: { uid: uidOf(pod) } },
  };
  try {
    await api.createSubresource(resources.pods, nameOf(pod), 'eviction', body, { namespace });
  } catch (error) {
    if (!isNotFound(error))
      log.debug({ pod: nameOf(pod), reason: describeError(error) }, 'A pod of a leaving node could not be evicted yet');
  }
}

function isEvictable(pod: Pod): boolean {
  return !isTerminating(pod) && !isFinished(pod) && controllerOf(pod)?.kind !== 'DaemonSet';
}

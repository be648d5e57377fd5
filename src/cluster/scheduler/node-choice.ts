/** Chooses the best of the nodes that can take a pod, or says why none can. Writes nothing. */
import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { Random } from '../../lib/random.ts';
import type { Caches } from '../caches.ts';
import type { ClusterState, NodeState } from './cluster-state.ts';
import { failureMessage, prefilterMessage } from './failure-message.ts';
import { createPodFilter } from './filters.ts';
import { searchNodes } from './node-search.ts';
import type { PodInfo } from './pod-info.ts';
import { bestNode } from './scores.ts';
import { volumesOf } from './volumes.ts';

export type NodeChoice =
  /** `unbound` claims get their volumes where the node can reach them; until they have, the pod cannot be bound. */
  | { readonly ok: true; readonly node: NodeState; readonly unbound: readonly PersistentVolumeClaim[] }
  /** As the pod's condition tells it. */
  | { readonly ok: false; readonly message: string };

export interface NodeChoiceOptions {
  readonly cluster: ClusterState;
  readonly caches: Pick<Caches, 'of'>;
  /** Decides between equals. */
  readonly random: Random;
}

/** It never preempts: its messages say that no victims were found. */
export function createNodeChoice({ cluster, caches, random }: NodeChoiceOptions): (info: PodInfo) => NodeChoice {
  let searchFrom = 0;
  return (info) => {
    const found = volumesOf(info, caches);
    if (!found.ok) return { ok: false, message: prefilterMessage(cluster.nodeCount, found.reason, true) };
    const refuse = createPodFilter(info, cluster, found.volumes);
    const { feasible, refusals, next } = searchNodes([...cluster.nodes()], searchFrom, refuse);
    searchFrom = next;
    const node = bestNode(info, feasible, cluster, random);
    return node === undefined
      ? { ok: false, message: failureMessage(refusals, info.spec.preemptionPolicy) }
      : { ok: true, node, unbound: found.unbound };
  };
}

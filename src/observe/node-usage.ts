/** What the pods of each node request together, kept as a running sum so that asking costs nothing. */

import type { NodeUsage } from '../model/cluster-view.ts';
import { hasEnded } from '../model/owners.ts';
import type { PodRecord } from '../model/records.ts';

/** Requests of all pods that hold room on a node, DaemonSets' and strangers' included. */
export interface NodeUsageIndex {
  /** Zero for a node without pods. */
  of(nodeName: string): NodeUsage;
  apply(before: PodRecord | undefined, after: PodRecord | undefined): void;
}

interface Sum {
  cpuMillis: number;
  memoryBytes: number;
  pods: number;
}

const unused: NodeUsage = { cpuMillis: 0, memoryBytes: 0, pods: 0 };

export function createNodeUsageIndex(): NodeUsageIndex {
  // Requests are whole numbers, so adding and subtracting never drifts.
  const sums = new Map<string, Sum>();

  /** A pod that has ended holds no room, though it stays on its node. */
  const add = (pod: PodRecord | undefined, sign: 1 | -1): void => {
    if (pod?.nodeName === undefined || hasEnded(pod)) return;
    const sum = sums.get(pod.nodeName) ?? { cpuMillis: 0, memoryBytes: 0, pods: 0 };
    sum.cpuMillis += sign * pod.template.requests.cpuMillis;
    sum.memoryBytes += sign * pod.template.requests.memoryBytes;
    sum.pods += sign;
    if (sum.pods === 0) sums.delete(pod.nodeName);
    else sums.set(pod.nodeName, sum);
  };

  return {
    of: (nodeName) => sums.get(nodeName) ?? unused,
    apply(before, after) {
      add(before, -1);
      add(after, 1);
    },
  };
}

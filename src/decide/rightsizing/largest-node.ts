/** The most a single pod could get on any node: what is left where nothing but DaemonSets runs. */
import type { ComputeResources } from '../../model/records.ts';
import type { SizingView } from '../../model/sizing-view.ts';

/**
 * @returns undefined where no node is known, as with rights for single namespaces only. CPU and memory may be of
 * different nodes.
 */
export function largestNode(view: Pick<SizingView, 'nodes' | 'podsOnNode'>): ComputeResources | undefined {
  let cpuMillis = 0;
  let memoryBytes = 0;
  for (const { name, labels, allocatable, deleting } of view.nodes()) {
    const isMachine = labels['type'] !== 'virtual-kubelet';
    if (deleting || !isMachine || (allocatable.cpuMillis <= cpuMillis && allocatable.memoryBytes <= memoryBytes))
      continue;
    let cpuTaken = 0;
    let memoryTaken = 0;
    for (const { pod } of view.podsOnNode(name)) {
      if (pod.owner?.kind !== 'DaemonSet') continue;
      cpuTaken += pod.template.requests.cpuMillis;
      memoryTaken += pod.template.requests.memoryBytes;
    }
    cpuMillis = Math.max(cpuMillis, allocatable.cpuMillis - cpuTaken);
    memoryBytes = Math.max(memoryBytes, allocatable.memoryBytes - memoryTaken);
  }
  return cpuMillis > 0 && memoryBytes > 0 ? { cpuMillis, memoryBytes } : undefined;
}

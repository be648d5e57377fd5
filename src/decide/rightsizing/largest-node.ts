/** The most a single pod of a workload could get on any node it may use: what is left where nothing but DaemonSets runs. */
import { admitsNode, toleratesAll } from '../../model/node-fit.ts';
import { hasEnded } from '../../model/owners.ts';
import type { ComputeResources, NodeRecord, PodRecord, PodTemplate, Taint } from '../../model/records.ts';
import type { SizingView } from '../../model/sizing-view.ts';

/**
 * Of the nodes that the pods may use by labels and taints. Where they may use different ones, as those on spot and on
 * on-demand do, the size has to fit all of them: the least is said. CPU and memory may be of different nodes. Where none
 * of the nodes is for them, one is yet to be made: the largest of all is said. Undefined where no node is known, as with
 * rights for single namespaces only.
 */
export type LargestNode = (pods: Iterable<{ readonly pod: PodRecord }>) => ComputeResources | undefined;

/** Of one moment, for the workloads of one pass: what was found for a template is not looked for again. */
export function largestNode(view: Pick<SizingView, 'nodes' | 'podsOnNode'>): LargestNode {
  const nodes = [...view.nodes()].filter(({ labels, deleting }) => !deleting && labels['type'] !== 'virtual-kubelet');
  const taken = new Map<NodeRecord, ComputeResources>();
  const found = new Map<PodTemplate, ComputeResources | undefined>();

  const takenOn = (node: NodeRecord): ComputeResources => {
    const known = taken.get(node) ?? takenByDaemonSets(view, node);
    taken.set(node, known);
    return known;
  };
  const mostWhere = (isFor: (node: NodeRecord) => boolean): ComputeResources | undefined => {
    let cpuMillis = 0;
    let memoryBytes = 0;
    for (const node of nodes) {
      const { allocatable } = node;
      if (allocatable.cpuMillis <= cpuMillis && allocatable.memoryBytes <= memoryBytes) continue;
      if (!isFor(node)) continue;
      const own = takenOn(node);
      cpuMillis = Math.max(cpuMillis, allocatable.cpuMillis - own.cpuMillis);
      memoryBytes = Math.max(memoryBytes, allocatable.memoryBytes - own.memoryBytes);
    }
    return cpuMillis > 0 && memoryBytes > 0 ? { cpuMillis, memoryBytes } : undefined;
  };
  const mostFor = (template: PodTemplate): ComputeResources | undefined => {
    if (found.has(template)) return found.get(template);
    const most = mostWhere((node) => admitsNode(template, node) && toleratesAll(template.tolerations, lasting(node)));
    found.set(template, most);
    return most;
  };

  return (pods) => {
    let least: ComputeResources | undefined;
    for (const { pod } of pods) {
      // Each pod of a DaemonSet is for one node, which says nothing about the others.
      const isCounted = !hasEnded(pod) && pod.deletingAt === undefined && pod.owner?.kind !== 'DaemonSet';
      const most = isCounted ? mostFor(pod.template) : undefined;
      if (most === undefined) continue;
      least = {
        cpuMillis: Math.min(most.cpuMillis, least?.cpuMillis ?? most.cpuMillis),
        memoryBytes: Math.min(most.memoryBytes, least?.memoryBytes ?? most.memoryBytes),
      };
    }
    return least ?? mostWhere(() => true);
  };
}

function takenByDaemonSets(view: Pick<SizingView, 'podsOnNode'>, { name }: NodeRecord): ComputeResources {
  let cpuMillis = 0;
  let memoryBytes = 0;
  for (const { pod } of view.podsOnNode(name)) {
    if (pod.owner?.kind !== 'DaemonSet') continue;
    cpuMillis += pod.template.requests.cpuMillis;
    memoryBytes += pod.template.requests.memoryBytes;
  }
  return { cpuMillis, memoryBytes };
}

/** Not ready, under pressure, cordoned: the node controller takes those away when they pass. */
function lasting({ taints }: NodeRecord): readonly Taint[] {
  return taints.some(isOfCondition) ? taints.filter((taint) => !isOfCondition(taint)) : taints;
}

function isOfCondition({ key }: Taint): boolean {
  return key.startsWith('node.kubernetes.io/');
}

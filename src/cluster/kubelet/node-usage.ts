/** What a simulated node and its pods use at one moment: what its kubelet's metrics are written from. */
import type { Pod } from '../../api/core.ts';
import type { Bytes, EpochMillis, Millicores } from '../../lib/units.ts';
import type { ContainerUsage } from '../load/container-usage.ts';

export interface NodeUsage {
  readonly node: string;
  readonly at: EpochMillis;
  /** Of the machine, what is kept back for the system included. */
  readonly capacity: { readonly cpuMillis: Millicores; readonly memoryBytes: Bytes };
  readonly containers: readonly ContainerUsage[];
  /** Since the node was there, of its system and all its containers, ended ones included. */
  readonly cpuSeconds: number;
  readonly memoryBytes: Bytes;
}

export interface PodUsage {
  readonly pod: Pod;
  readonly containers: readonly ContainerUsage[];
  readonly cpuSeconds: number;
  readonly memoryBytes: Bytes;
}

/** Pods in the order of their first container; those without a running container have no usage. */
export function podsOf({ containers }: Pick<NodeUsage, 'containers'>): PodUsage[] {
  const byUid = new Map<string, ContainerUsage[]>();
  for (const usage of containers) {
    const uid = usage.pod.metadata?.uid ?? '';
    const known = byUid.get(uid);
    if (known === undefined) byUid.set(uid, [usage]);
    else known.push(usage);
  }
  return [...byUid.values()].flatMap((usages) => {
    const [first] = usages;
    if (first === undefined) return [];
    const sum = (read: (usage: ContainerUsage) => number): number =>
      usages.reduce((total, usage) => total + read(usage), 0);
    const cpuSeconds = sum((usage) => usage.cpuSeconds);
    return [{ pod: first.pod, containers: usages, cpuSeconds, memoryBytes: sum((usage) => usage.memoryBytes) }];
  });
}

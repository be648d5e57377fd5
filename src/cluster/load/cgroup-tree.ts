/** The control groups of a node's pods as a kubelet lays them out: Guaranteed pods beside the Burstable and the BestEffort slice. */
import type { ContainerUsage } from './container-usage.ts';
import { type CpuGroup, shareCpu, sharesOf } from './cpu-sharing.ts';

type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** Shares `capacity` among containers that want more together: sets what each of them gets. */
export function grantContended(usages: readonly ContainerUsage[], capacity: number): void {
  const leaves = usages.map(
    ({ settings, demandMillicores }): CpuGroup => ({
      weight: settings.weight,
      limit: settings.limit,
      demand: demandMillicores,
      children: [],
      granted: 0,
    }),
  );
  const podGroups = new Map<unknown, { readonly qosClass: QosClass; readonly children: CpuGroup[] }>();
  usages.forEach(({ loaded, pod }, index) => {
    const leaf = leaves[index];
    if (leaf === undefined) return;
    const known = podGroups.get(loaded);
    if (known === undefined) podGroups.set(loaded, { qosClass: qosClassOf(pod.status?.qosClass), children: [leaf] });
    else known.children.push(leaf);
  });
  const ofClass = (wanted: QosClass): CpuGroup[] =>
    [...podGroups.values()].filter(({ qosClass }) => qosClass === wanted).map(({ children }) => groupOf(children));
  const burstable = ofClass('Burstable');
  const bestEffort = ofClass('BestEffort');
  shareCpu(
    [
      ...ofClass('Guaranteed'),
      ...(burstable.length === 0 ? [] : [groupOf(burstable)]),
      // However many they are, together they weigh next to nothing.
      ...(bestEffort.length === 0 ? [] : [{ ...groupOf(bestEffort), weight: sharesOf(0) }]),
    ],
    capacity,
  );
  usages.forEach((usage, index) => {
    usage.usedMillicores = leaves[index]?.granted ?? 0;
  });
}

/** Weighs as much as its members. A pod's quota is the sum of its containers', so theirs are the ones that count. */
function groupOf(children: readonly CpuGroup[]): CpuGroup {
  const weight = children.reduce((total, child) => total + child.weight, 0);
  return { weight, limit: Number.POSITIVE_INFINITY, demand: 0, children, granted: 0 };
}

function qosClassOf(text: string | undefined): QosClass {
  return text === 'Guaranteed' || text === 'BestEffort' ? text : 'Burstable';
}

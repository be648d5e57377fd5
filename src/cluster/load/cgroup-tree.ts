/** The control groups of a node's pods as a kubelet lays them out: Guaranteed pods beside the Burstable and the BestEffort slice. Pure. */
import type { Resources } from '../kubelet/pod-status.ts';
import { amountsOf } from '../pod-requests.ts';
import { type CpuGroup, sharesOf } from './cpu-sharing.ts';
import type { RunningPod } from './running-pod.ts';

/** The kubelet never sets a quota below 1 ms per 100 ms. Source: pkg/kubelet/cm/helpers_linux.go `minQuotaPeriod`. */
const MIN_LIMIT = 10;
const NONE = Number.POSITIVE_INFINITY;

/** A container's own settings. */
export interface CpuSettings {
  readonly weight: number;
  /** Millicores; `Infinity` without a limit. */
  readonly limit: number;
}

export function cpuSettings({ requests, limits }: Resources): CpuSettings {
  const limit = amountsOf(limits).get('cpu');
  // A limit without a request is a request as well.
  const weight = sharesOf(amountsOf(requests).get('cpu') ?? limit ?? 0);
  return { weight, limit: limit === undefined ? NONE : Math.max(MIN_LIMIT, limit) };
}

export interface CgroupTree {
  readonly slices: readonly CpuGroup[];
  /** In the order of the pods and, within each, of its running containers. */
  readonly leaves: readonly CpuGroup[];
  /** The pod's group of each leaf. */
  readonly podOfLeaf: readonly CpuGroup[];
}

/** @param leafOf settings of each running container and the millicores it wants, asked in the order of the leaves. */
export function cgroupTree(
  pods: readonly RunningPod[],
  leafOf: (podIndex: number, index: number) => CpuSettings & { readonly demand: number },
): CgroupTree {
  const leaves: CpuGroup[] = [];
  const podOfLeaf: CpuGroup[] = [];
  const byClass = { Guaranteed: [] as CpuGroup[], Burstable: [] as CpuGroup[], BestEffort: [] as CpuGroup[] };
  pods.forEach((pod, podIndex) => {
    const children = pod.containers.map((_, index): CpuGroup => {
      const { weight, limit, demand } = leafOf(podIndex, index);
      return { weight, limit, demand, children: [], granted: 0 };
    });
    const group: CpuGroup = {
      weight: children.reduce((total, { weight }) => total + weight, 0),
      // A pod has a quota only where each of its containers has one.
      limit: children.reduce((total, { limit }) => total + limit, 0),
      demand: 0,
      children,
      granted: 0,
    };
    byClass[pod.qosClass].push(group);
    for (const leaf of children) {
      leaves.push(leaf);
      podOfLeaf.push(group);
    }
  });
  const slice = (children: readonly CpuGroup[], weight: number): CpuGroup => ({
    weight,
    limit: NONE,
    demand: 0,
    children,
    granted: 0,
  });
  const burstableWeight = byClass.Burstable.reduce((total, { weight }) => total + weight, 0);
  const slices = [
    ...byClass.Guaranteed,
    ...(byClass.Burstable.length === 0 ? [] : [slice(byClass.Burstable, burstableWeight)]),
    ...(byClass.BestEffort.length === 0 ? [] : [slice(byClass.BestEffort, sharesOf(0))]),
  ];
  return { slices, leaves, podOfLeaf };
}

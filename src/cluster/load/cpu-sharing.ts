/** How a node's CPUs are shared when all of them are wanted: by weight, down a tree of control groups, each with its cap. Pure. */

/** A control group; amounts are millicores. */
export interface CpuGroup {
  /** `cpu.shares`: relative to the siblings'. */
  readonly weight: number;
  /** The quota; `Infinity` without one. */
  readonly limit: number;
  /** What its own processes want; groups with children have none. */
  readonly demand: number;
  readonly children: readonly CpuGroup[];
  /** Set by {@link shareCpu}. */
  granted: number;
}

/** Source: pkg/kubelet/cm/helpers_linux.go `MilliCPUToShares`: 1024 for a core, 2 at least. */
const MIN_SHARES = 2;

/** CPU shares of a request. @param millicores 0 or more */
export function sharesOf(millicores: number): number {
  return Math.max(MIN_SHARES, Math.floor((millicores * 1024) / 1000));
}

/** Sets `granted` of every group below `capacity`: never more than wanted or allowed, and nothing left while somebody wants it. */
export function shareCpu(groups: readonly CpuGroup[], capacity: number): void {
  const wants = groups.map(wanted);
  const grants = fillByWeight(
    capacity,
    groups.map(({ weight }) => weight),
    wants,
  );
  groups.forEach((group, index) => {
    group.granted = grants[index] ?? 0;
    if (group.children.length > 0) shareCpu(group.children, group.granted);
  });
}

/** What the group and all below it would use if there were no others. */
function wanted(group: CpuGroup): number {
  let total = group.demand;
  for (const child of group.children) total += wanted(child);
  return Math.min(total, group.limit);
}

/**
 * Weighted water filling: everybody's level `grant / weight` rises alike until `capacity` is used up; who has what it
 * wants stops there.
 * @returns grants in the order given; their sum is the smaller of `capacity` and the sum of wants.
 */
export function fillByWeight(capacity: number, weights: readonly number[], wants: readonly number[]): number[] {
  let total = 0;
  for (const want of wants) total += want;
  if (total <= capacity) return [...wants];
  const level = (index: number): number => (wants[index] ?? 0) / (weights[index] ?? 1);
  const order = wants.map((_, index) => index).sort((left, right) => level(left) - level(right));
  const grants = wants.map(() => 0);
  let left = capacity;
  let weightLeft = weights.reduce((sum, weight) => sum + weight, 0);
  for (const index of order) {
    const weight = weights[index] ?? 1;
    const grant = Math.min(wants[index] ?? 0, (left * weight) / weightLeft);
    grants[index] = grant;
    left -= grant;
    weightLeft -= weight;
  }
  return grants;
}

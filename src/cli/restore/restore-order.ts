/** In which order pods are given back what they had: those that give up make room for those that take. */
import type { RestorePlan } from '../../decide/restore-size.ts';
import { ascending } from '../../lib/ascending.ts';
import { sizeOfContainer } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';

export interface Restorable {
  readonly pod: SizedPod;
  readonly plan: RestorePlan;
}

/** So much memory counts like a core: about what nodes have of both. */
const BYTES_PER_CORE = 4 * 2 ** 30;

/** @returns first all that need no more of anything, then the others; in each, who needs least is first. */
export function inRestoreOrder<T extends Restorable>(wanted: readonly T[]): readonly (readonly T[])[] {
  const all = wanted
    .map((each) => ({ each, ...growthOf(each) }))
    .toSorted((left, right) => ascending(left.cores + left.memory, right.cores + right.memory));
  const takes = ({ cores, memory }: (typeof all)[number]): boolean => cores > 0 || memory > 0;
  return [all.filter((one) => !takes(one)), all.filter(takes)].map((phase) => phase.map(({ each }) => each));
}

/** Of requests, both in cores. */
function growthOf({ pod, plan }: Restorable): { readonly cores: number; readonly memory: number } {
  const changes = plan.kind === 'resize' ? plan.decision.changes : [];
  const sum = (key: 'cpuRequest' | 'memoryRequest'): number =>
    changes.reduce((total, { container, to }) => {
      const now = sizeOfContainer(pod.sizing.containers, container)?.[key] ?? 0;
      return total + (to[key] ?? now) - now;
    }, 0);
  return { cores: sum('cpuRequest') / 1000, memory: sum('memoryRequest') / BYTES_PER_CORE };
}

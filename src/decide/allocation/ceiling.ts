/** Who gets a ceiling, by the rules. */
import type { CpuSize } from './allocation-pod.ts';
import type { PodMarks } from './marks.ts';
import type { AllocationRules } from './rules.ts';

/** Of one pod; `original`: what it had at first. */
interface Ceiled {
  readonly marks: PodMarks;
  readonly original: CpuSize;
}

/** Ceiling by share; undefined: the pod gets none, and a limit that it has stays. */
export function ceilingFactor(
  { marks, original }: Ceiled,
  isGreedy: boolean,
  { ceilings, greedyCeiling, looseCeiling }: AllocationRules,
): number | undefined {
  const own = isGreedy ? greedyCeiling : looseCeiling;
  if (ceilings === 'none') return undefined;
  if (ceilings === 'all') return own;
  if (ceilings === 'existing') return original.limit === undefined || marks.isLatencySensitive ? undefined : own;
  return isGreedy ? greedyCeiling : undefined;
}

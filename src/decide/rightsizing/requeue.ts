/** When a policy is looked at again: OptiPod's factors, so that existing policies keep their pace. */
import type { PolicyMode } from '../../api/optimization-policy.ts';
import type { Random } from '../../lib/random.ts';
import type { Millis } from '../../lib/units.ts';

export interface PassCounts {
  /** Workloads that the policy is about, also those that another one has the say over: so OptiPod counts. */
  readonly discovered: number;
  /** Of these, worked on without an error. */
  readonly processed: number;
}

/**
 * Disabled policies wait four intervals, those that only advise two, those without workloads three; the rest one and 5
 * to 10 %.
 */
export function requeueAfter(mode: PolicyMode, intervalMillis: Millis, counts: PassCounts, random: Random): Millis {
  if (mode === 'Disabled') return intervalMillis * 4;
  if (mode === 'Recommend') return intervalMillis * 2;
  if (counts.discovered === 0) return intervalMillis * 3;
  if (counts.processed === 0) return intervalMillis * 2;
  // Spread, so that policies created together do not come together for ever.
  return Math.round(intervalMillis * (1.05 + 0.05 * random.next()));
}

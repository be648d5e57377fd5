/**
 * What the requests of managed pods add up to. Only the ratio of requests counts in the kernel, but the scheduler takes them
 * for what they say: a node whose every core is written down as requested takes no new pod, however idle it is.
 */
import type { Millicores } from '../../lib/units.ts';
import type { Clamp } from './clamp.ts';
import type { AllocationRules } from './rules.ts';
import type { Seat } from './seat.ts';

export interface SteadySum {
  /** At most `capacity`. */
  readonly sum: Millicores;
  readonly clamps: readonly Clamp[];
}

/**
 * What users asked for (a claim above it included), and `surplusShare` of what is free beyond. The sum stays as pods burst
 * and rest, so the slice of burstable pods keeps its weight beside Guaranteed ones (the kubelet follows up to a minute late).
 */
export function steadySum(
  seats: readonly { readonly original: Seat['original']; readonly box: Pick<Seat['box'], 'claim'> }[],
  capacity: Millicores,
  { apply, surplusShare }: Pick<AllocationRules, 'apply' | 'surplusShare'>,
): SteadySum {
  if (apply === 'limits') return { sum: capacity, clamps: [] };
  const asked = seats.reduce((total, { original, box }) => total + Math.max(original.request, box.claim), 0);
  const sum = Math.min(capacity, Math.floor(asked + surplusShare * Math.max(0, capacity - asked)));
  const clamps: Clamp[] =
    sum < capacity ? [{ reason: 'SteadySum', what: 'capacity', before: capacity, after: sum }] : [];
  return { sum, clamps };
}

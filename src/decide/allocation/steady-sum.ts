/**
 * What the requests of managed pods add up to. Only the ratio of requests counts in the kernel, but the scheduler takes
 * them for what they say: a node whose every core is written down as requested takes no new pod, however idle it is.
 */
import type { Millicores } from '../../lib/units.ts';
import type { Clamp } from './clamp.ts';
import type { AllocationRules } from './rules.ts';
import type { Seat } from './seat.ts';

export interface SteadySum {
  /** At most `nominal`. */
  readonly sum: Millicores;
  readonly clamps: readonly Clamp[];
}

/**
 * What users asked for (a claim above it included), and `surplusShare` of what is free beyond. The sum stays as pods
 * burst and rest, so the slice of burstable pods keeps its weight beside Guaranteed ones (the kubelet follows up to a
 * minute late), and it stays when something outside of pods is busy: claims do not shrink for that.
 * @param room.capacity what pods can use now; `nominal`: what they could if the system kept to what is reserved for it.
 */
export function steadySum(
  seats: readonly { readonly original: Seat['original']; readonly box: Pick<Seat['box'], 'claim'> }[],
  { capacity, nominal }: { readonly capacity: Millicores; readonly nominal: Millicores },
  { apply, surplusShare }: Pick<AllocationRules, 'apply' | 'surplusShare'>,
): SteadySum {
  const claims = seats.reduce((total, { box }) => total + box.claim, 0);
  if (apply === 'limits') return { sum: Math.max(capacity, Math.min(nominal, claims)), clamps: [] };
  const asked = seats.reduce((total, { original, box }) => total + Math.max(original.request, box.claim), 0);
  const sum = Math.min(nominal, Math.floor(asked + surplusShare * Math.max(0, capacity - asked)));
  const clamps: Clamp[] =
    sum < capacity ? [{ reason: 'SteadySum', what: 'capacity', before: capacity, after: sum }] : [];
  return { sum, clamps };
}

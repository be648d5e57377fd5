/**
 * What the requests of a node's pods may add up to once all that a tick writes is in force. What somebody gave up for
 * another goes back when he leaves: kept, it would make the node look fuller than its users made it, a little more with
 * every pod that goes, and what comes in his place would find no room.
 */
import type { Millicores } from '../../lib/units.ts';
import { sizeOf } from './allocation-pod.ts';
import { optedOut } from './eligibility.ts';
import type { Absent } from './node-input.ts';
import type { AllocationRules } from './rules.ts';
import type { Seat } from './seat.ts';

type Holder = Pick<Seat, 'original' | 'box' | 'kept' | 'share'>;

/**
 * At least `steady.sum`, and as much as is held where that is theirs: pods that came with more than the margin leaves
 * have it. Nothing is lowered for that alone, or the room would be filled by others, again and again.
 * @param steady.nominal what they could have if the system kept to what is reserved for it.
 */
export function purseOf(
  seats: readonly Holder[],
  absent: readonly Absent[],
  steady: { readonly sum: Millicores; readonly nominal: Millicores },
  { apply, surplusShare, write }: AllocationRules,
): Millicores {
  if (apply === 'limits') return steady.sum;
  const held = seats.reduce((sum, { share }) => sum + share, 0);
  const own = seats.reduce((sum, seat) => sum + ownOf(seat), 0) + lentBy(absent);
  const theirs = Math.floor(own + surplusShare * Math.max(0, steady.nominal - own));
  const most = Math.max(steady.sum, theirs);
  // Less is not worth a write.
  return held - most < write.minChange ? Math.max(steady.sum, held) : most;
}

/** What its user asked for, or its claim; and what it holds for now by a bound or a guard, but for smoothness. */
function ownOf({ original, box, kept }: Holder): Millicores {
  const guarded = box.floors.findLast(({ layer }) => layer !== 'step')?.min ?? 0;
  return Math.max(original.request, box.claim, kept, guarded);
}

/** By who is still there, and may take part again. Who opted out gets it back, and needs the room. */
function lentBy(absent: readonly Absent[]): Millicores {
  return absent.reduce((sum, { input: { pod, original }, reason }) => {
    if (reason === 'Terminating' || optedOut.has(reason)) return sum;
    return sum + Math.max(0, (original?.request ?? 0) - sizeOf(pod).request);
  }, 0);
}

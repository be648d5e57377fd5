/** The pods on which a change is tried first, in turn. */
import type { EpochMillis } from '../../lib/units.ts';
import { effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import { isBeingKilled } from '../../model/recent-kill.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { firstToChange, isResizable } from './pod-drift.ts';

/** A pod whose node has no room says nothing about the others: so many are tried before the change waits. */
const MAX_TRIES = 3;

/**
 * Who has what is raised comes before all others: the last leader gave it, and had no time to put it in force. Who is
 * killed for want of memory is always among them: a quota that keeps its room for others keeps it not from that one.
 */
export function firstToTry(
  live: readonly SizedPod[],
  raises: readonly SizeChange[],
  now: EpochMillis,
): readonly SizedPod[] {
  const hasIt = ({ sizing }: SizedPod): boolean =>
    raises.length > 0 && effectiveChanges(sizing.containers, raises).length === 0;
  const inTurn = firstToChange(live, (pod) => pod).toSorted((a, b) => Number(hasIt(b)) - Number(hasIt(a)));
  const first = inTurn.slice(0, MAX_TRIES);
  const killed = inTurn.filter((pod) => isResizable(pod) && isBeingKilled(pod.sizing, now));
  return killed.length === 0 || killed.some((pod) => first.includes(pod)) ? first : [...first, ...killed.slice(0, 1)];
}

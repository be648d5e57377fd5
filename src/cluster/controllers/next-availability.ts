/** Availability comes by the passing of time alone: no event wakes a controller for it. Pure. */
import type { Pod } from '../../api/core.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { availableAt } from '../pod-state.ts';

/**
 * When the first of these pods becomes available that was not yet; undefined where none will by time alone.
 * @param judgedMillis when their availability was looked at first: what changed since then is still to be seen, however
 *   long the process stood still in between.
 */
export function nextAvailability(
  pods: Iterable<Pod>,
  minReadySeconds: number,
  judgedMillis: EpochMillis,
): EpochMillis | undefined {
  if (minReadySeconds === 0) return undefined;
  const due = [...pods].flatMap((pod) => availableAt(pod, minReadySeconds) ?? []).filter((at) => at > judgedMillis);
  return due.length === 0 ? undefined : Math.min(...due);
}

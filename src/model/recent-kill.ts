/** Containers that were killed for want of memory a moment ago, as their statuses tell. */
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { ContainerStatusRecord, PodSizing, TerminationRecord } from './sizing-records.ts';

/**
 * Once a container has run for so long the kubelet takes it for recovered, and its back-off begins anew (MaxContainerBackOff
 * is half of it).
 */
export const RECOVERED_MILLIS: Millis = 600_000;

/** By the clock of this process, as far as it is known; undefined where nobody says when. */
export function endedAt({
  finishedAt,
  seenAt,
}: Pick<TerminationRecord, 'finishedAt' | 'seenAt'>): EpochMillis | undefined {
  return seenAt ?? finishedAt;
}

/** Its last end was a kill for want of memory, and it has not run for long since. */
export function wasJustKilled({ lastTermination }: ContainerStatusRecord, now: EpochMillis): boolean {
  if (lastTermination?.reason !== 'OOMKilled') return false;
  // Nobody says when: a kubelet that tells no time has told of it now.
  return now - (endedAt(lastTermination) ?? now) < RECOVERED_MILLIS;
}

/** The same of any container of a pod. */
export function isBeingKilled({ statuses }: Pick<PodSizing, 'statuses'>, now: EpochMillis): boolean {
  return statuses.some((status) => wasJustKilled(status, now));
}

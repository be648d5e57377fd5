/** Finds the out-of-memory kills that pods' statuses tell of. */
import type { EpochMillis } from '../../lib/units.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';

/** One kill of one container. */
export interface OomKill {
  readonly container: string;
  /** The same for the same kill, however often its pod is looked at. */
  readonly key: string;
  /**
   * Bytes it had when it was killed, as far as the status tells: its limit, else its request; 0 where neither is known.
   */
  readonly limit: number;
  readonly at: EpochMillis;
}

/**
 * The last termination of each container, where it was one for want of memory. A status keeps telling of it for as long
 * as the pod lives, so callers go by the key.
 * @param now stands in for a time the kubelet does not tell.
 */
export function oomKillsOf({ pod, sizing }: SizedPod, now: EpochMillis): OomKill[] {
  const kills: OomKill[] = [];
  for (const status of sizing.statuses) {
    const { name, lastTermination, restartCount } = status;
    if (lastTermination?.reason !== 'OOMKilled') continue;
    const { finishedAt } = lastTermination;
    const spec = sizing.containers.find((container) => container.name === name);
    // Run-once init containers have no record: they are not sized.
    if (spec === undefined) continue;
    kills.push({
      container: name,
      key: `${pod.uid}/${finishedAt ?? `restart-${restartCount}`}`,
      limit: memoryOf(status.actual) || memoryOf(spec.size),
      // A node's clock may be ahead, by years even.
      at: Math.min(finishedAt ?? now, now),
    });
  }
  return kills;
}

const memoryOf = (size: ContainerSize | undefined): number => size?.memoryLimit ?? size?.memoryRequest ?? 0;

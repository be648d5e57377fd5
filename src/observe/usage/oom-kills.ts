/** Finds the out-of-memory kills that pods' statuses tell of. */
import type { EpochMillis } from '../../lib/units.ts';
import { endedAt } from '../../model/recent-kill.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { hasTerminations } from '../sizing/compact-pod-sizing.ts';

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

export interface OomKills {
  /**
   * The last termination of each container, where it was one for want of memory. A status keeps telling of it for as
   * long as the pod lives, so callers go by the key. To be asked again and again.
   * @param now stands in for a time the kubelet does not tell.
   */
  of(pod: SizedPod, now: EpochMillis): OomKill[];
  /** Forgets the pods that were not asked for since. */
  forgetBefore(instant: EpochMillis): void;
}

/** Of a container that was killed: what was told of its last kill, and what it had when it was last looked at. */
interface Killed {
  readonly key: string;
  readonly limitOfKill: number;
  readonly limitSeen: number;
  readonly seenAt: EpochMillis;
}

/**
 * A status tells what is in force by now. Whoever is killed again and again is resized between two runs, so that a kill
 * may be told together with a size that its run never had: what was seen before is what it had.
 */
export function createOomKills(): OomKills {
  const killed = new Map<string, Killed>();
  return {
    of(found, now) {
      const { pod } = found;
      const kills: OomKill[] = [];
      // All pods are asked for every few seconds, and nearly none has anything to tell.
      if (pod.sizing !== undefined && !hasTerminations(pod.sizing)) return kills;
      const { sizing } = found;
      for (const status of sizing.statuses) {
        const { name, lastTermination, restartCount } = status;
        if (lastTermination?.reason !== 'OOMKilled') continue;
        const { finishedAt } = lastTermination;
        const spec = sizing.containers.find((container) => container.name === name);
        // Run-once init containers have no record: they are not sized.
        if (spec === undefined) continue;
        const key = `${pod.uid}/${finishedAt ?? `restart-${restartCount}`}`;
        const limitSeen = memoryOf(status.actual) || memoryOf(spec.size);
        const known = killed.get(`${pod.uid}/${name}`);
        const limit = known === undefined ? limitSeen : known.key === key ? known.limitOfKill : known.limitSeen;
        killed.set(`${pod.uid}/${name}`, { key, limitOfKill: limit, limitSeen, seenAt: now });
        // A node's clock may be ahead, by years even.
        kills.push({ container: name, key, limit, at: Math.min(endedAt(lastTermination) ?? now, now) });
      }
      return kills;
    },
    forgetBefore(instant) {
      for (const [key, { seenAt }] of killed) if (seenAt < instant) killed.delete(key);
    },
  };
}

const memoryOf = (size: ContainerSize | undefined): number => size?.memoryLimit ?? size?.memoryRequest ?? 0;

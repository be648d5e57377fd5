/** Which machines the cloud has: pool by zone, closed by script, and remembered as closed after a refusal. */
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis } from '../../lib/units.ts';

/** How long a refused offering is not asked for again. Source: Karpenter's unavailable-offerings cache. */
const REFUSAL_MILLIS = 3 * 60_000;

export interface Offerings {
  /** Script: the cloud has capacity in this pool (in one zone, or all) or not. Nothing is told to the autoscaler. */
  setAvailable(pool: string, isAvailable: boolean, zone?: string): void;
  /** Asking the cloud for a machine. A refusal is remembered. */
  request(pool: string, zone: string): boolean;
  /** Whether asking is worth it: not refused recently. */
  isWorthAsking(pool: string, zone: string): boolean;
  /** When the first of the remembered refusals ends that had not ended at `sinceMillis`; undefined when there is none. */
  nextExpiry(sinceMillis: EpochMillis): EpochMillis | undefined;
}

export function createOfferings(clock: Clock): Offerings {
  /** `pool` or `pool/zone`. */
  const closed = new Set<string>();
  const refusedUntil = new Map<string, number>();
  const keyOf = (pool: string, zone: string): string => `${pool}/${zone}`;
  return {
    setAvailable(pool, isAvailable, zone) {
      const key = zone === undefined ? pool : keyOf(pool, zone);
      if (isAvailable) {
        closed.delete(key);
        if (zone === undefined) for (const each of [...closed]) if (each.startsWith(`${pool}/`)) closed.delete(each);
      } else closed.add(key);
    },
    request(pool, zone) {
      const isOpen = !closed.has(pool) && !closed.has(keyOf(pool, zone));
      if (isOpen) refusedUntil.delete(keyOf(pool, zone));
      else refusedUntil.set(keyOf(pool, zone), clock.now() + REFUSAL_MILLIS);
      return isOpen;
    },
    isWorthAsking: (pool, zone) => (refusedUntil.get(keyOf(pool, zone)) ?? 0) <= clock.now(),
    nextExpiry(sinceMillis) {
      const pending = [...refusedUntil.values()].filter((until) => until > sinceMillis);
      return pending.length === 0 ? undefined : Math.min(...pending);
    },
  };
}

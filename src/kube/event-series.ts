/**
 * Which events to write: repeats become a growing series instead of new objects, and no object is flooded. Pure but for
 * its memory.
 */
import type { EpochMillis } from '../lib/units.ts';

/** What an event says; two with the same key are repeats of one. */
export interface EventOccurrence {
  readonly key: string;
  /** The object it is about; events are limited per subject. */
  readonly subject: string;
}

export type EventVerdict =
  /** A new Event object. */
  | { readonly kind: 'create' }
  /** Seen `count` times in all; the object has to be updated now or later. */
  | { readonly kind: 'series'; readonly count: number }
  /** Too many events about this subject. */
  | { readonly kind: 'dropped' };

/**
 * Remembers what was told lately. Times are given by the caller and may go back a little: nothing is counted twice for
 * it.
 */
export interface EventSeries {
  record(occurrence: EventOccurrence, nowMillis: EpochMillis): EventVerdict;
  /** Forgets a series, because its object is gone: the next occurrence creates a new one. */
  forget(key: string): void;
  /** How often, and when last, the occurrence was recorded. */
  stateOf(key: string): { readonly count: number; readonly lastMillis: EpochMillis } | undefined;
  readonly size: number;
}

/** The defaults are client-go's, so that Stowage floods no more than Kubernetes' own controllers. */
export interface EventSeriesLimits {
  /** New events about one subject at once. Default 25 (client-go events_cache.go). */
  readonly burstPerSubject?: number;
  /** Time after which a subject may have one more, milliseconds. Default 300,000 (client-go). */
  readonly refillMillis?: number;
  /**
   * A series ends when nothing was added for so long, milliseconds. Default 360,000 (client-go
   * events/event_broadcaster.go).
   */
  readonly seriesIdleMillis?: number;
  /** Keys and subjects remembered; the longest unused are forgotten. Default 4,096 each. */
  readonly maxRemembered?: number;
}

interface Series {
  count: number;
  lastMillis: EpochMillis;
}

interface Allowance {
  tokens: number;
  countedMillis: EpochMillis;
}

export function createEventSeries(limits: EventSeriesLimits = {}): EventSeries {
  const { burstPerSubject = 25, refillMillis = 300_000, seriesIdleMillis = 360_000, maxRemembered = 4_096 } = limits;
  // Maps keep insertion order: moving an entry to the end at each use makes the first one the longest unused.
  const series = new Map<string, Series>();
  const allowances = new Map<string, Allowance>();

  const touch = <V>(map: Map<string, V>, key: string, value: V): void => {
    map.delete(key);
    map.set(key, value);
    if (map.size <= maxRemembered) return;
    const [oldest] = map.keys();
    if (oldest !== undefined) map.delete(oldest);
  };

  /** A token bucket for each subject: a burst at once, then one each refill. */
  const spend = (subject: string, nowMillis: EpochMillis): boolean => {
    const known = allowances.get(subject) ?? { tokens: burstPerSubject, countedMillis: nowMillis };
    const refilled = known.tokens + Math.max(0, nowMillis - known.countedMillis) / refillMillis;
    const tokens = Math.min(burstPerSubject, refilled);
    const isAllowed = tokens >= 1;
    touch(allowances, subject, { tokens: isAllowed ? tokens - 1 : tokens, countedMillis: nowMillis });
    return isAllowed;
  };

  return {
    get size() {
      return series.size;
    },
    record({ key, subject }, nowMillis) {
      const known = series.get(key);
      if (known !== undefined && nowMillis - known.lastMillis < seriesIdleMillis) {
        known.count++;
        known.lastMillis = nowMillis;
        touch(series, key, known);
        return { kind: 'series', count: known.count };
      }
      if (!spend(subject, nowMillis)) return { kind: 'dropped' };
      touch(series, key, { count: 1, lastMillis: nowMillis });
      return { kind: 'create' };
    },
    stateOf: (key) => series.get(key),
    forget: (key) => {
      series.delete(key);
    },
  };
}

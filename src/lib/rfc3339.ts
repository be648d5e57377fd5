/** Instants as Kubernetes writes metav1.Time: UTC, whole seconds, `2026-01-31T12:00:00Z`. */
import type { EpochMillis } from './units.ts';

/**
 * `2026-03-29T01:00:00Z`: whole seconds, rounded down, as Kubernetes writes times.
 * @throws RangeError for what is no time.
 */
export function formatTime(at: EpochMillis): string {
  return new Date(Math.floor(at / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** The last that a Date can be. */
const LAST_INSTANT = 8_640_000_000_000_000;

/** Whether it is a whole number of milliseconds since 1970 that can be written as a time. */
export function isInstant(value: unknown): value is EpochMillis {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LAST_INSTANT;
}

/** @returns undefined for a text that is no instant. */
export function parseTime(text: string | undefined): EpochMillis | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/**
 * Instants as records of ten thousand pods keep them. The API's are whole seconds, and V8 holds a whole number of 31
 * bits in the field itself, but milliseconds since 1970 in 16 bytes beside it.
 */
import type { EpochMillis } from './units.ts';

/** Seconds since 1970. Undefined stands for one that is not there. */
export type PackedInstant = number | undefined;

/** @param at whole milliseconds; whole seconds cost nothing beside the record. */
export function packInstant(at: EpochMillis | undefined): PackedInstant {
  if (at === undefined) return undefined;
  // V8 keeps a quotient in 16 bytes, even one that is whole; what `floor` answers it does not.
  const seconds = Math.floor(at / 1000);
  return seconds * 1000 === at ? seconds : at / 1000;
}

/** The same whole millisecond that was packed, within 100,000 years. */
export function unpackInstant(packed: PackedInstant): EpochMillis | undefined {
  return packed === undefined ? undefined : Math.round(packed * 1000);
}

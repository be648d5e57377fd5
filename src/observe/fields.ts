/**
 * Readers of single fields: API objects may come from hand-written files, so a wrong type is named instead of
 * spreading.
 */
import { InvalidValueError } from '../lib/errors.ts';
import { parseQuantity, toBytes, toMillicores } from '../lib/quantity.ts';
import type { Bytes, EpochMillis, Millicores } from '../lib/units.ts';
import type { Labels } from '../model/records.ts';

/** @throws InvalidValueError unless `value` is a non-empty text. */
export function requireText(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(field, value, 'a non-empty text');
}

/** The text, or `fallback` when absent. @throws InvalidValueError when it is something else. */
export function textOr(value: unknown, fallback: string, field: string): string {
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'string') return value;
  throw invalid(field, value, 'a text');
}

/**
 * A whole number of 0 or more, or `fallback` when absent. @throws InvalidValueError when it is something else, such as
 * a number in quotes.
 */
export function countOr(value: unknown, fallback: number, field: string): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid(field, value, 'a whole number of 0 or more');
}

/** An RFC 3339 time as epoch milliseconds; undefined when absent. @throws InvalidValueError when unreadable. */
export function instant(value: unknown, field: string): EpochMillis | undefined {
  if (value === undefined || value === null) return undefined;
  // YAML readers turn unquoted timestamps into dates.
  const millis = value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(millis)) throw invalid(field, value, 'a time such as 2026-01-31T12:00:00Z');
  return millis;
}

/** A map of texts; empty when absent. @throws InvalidValueError when a value is not a text. */
export function textMap(value: unknown, field: string): Labels {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid(field, value, 'a map of texts');
  const map: Record<string, string> = {};
  for (const [key, text] of Object.entries(value)) map[key] = textOr(text, '', `${field}[${key}]`);
  return map;
}

/** The entries of `map` whose key starts with `prefix`. */
export function withPrefix(map: Labels, prefix: string): Labels {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(map)) if (key.startsWith(prefix)) kept[key] = value;
  return kept;
}

/** A list; empty when absent. @throws InvalidValueError when it is something else. */
export function listOf<T>(value: readonly T[] | undefined | null, field: string): readonly T[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw invalid(field, value, 'a list');
}

/**
 * CPU in millicores, rounded up as Kubernetes does (MilliValue); undefined when absent.
 * @throws InvalidValueError when it is no quantity.
 */
export function cpu(value: unknown, field: string): Millicores | undefined {
  const text = quantityText(value, field);
  return text === undefined ? undefined : withField(field, () => toMillicores(parseQuantity(text)));
}

/**
 * Memory in bytes, rounded up as Kubernetes does (Value); undefined when absent.
 * @throws InvalidValueError when it is no quantity.
 */
export function memory(value: unknown, field: string): Bytes | undefined {
  const text = quantityText(value, field);
  return text === undefined ? undefined : withField(field, () => toBytes(parseQuantity(text)));
}

/** Kubernetes also takes bare numbers where a quantity is meant. */
function quantityText(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw invalid(field, value, 'a quantity such as 500m or 128Mi');
}

/** A quantity's own error does not know where it stood. */
function withField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidValueError) throw new InvalidValueError(field, error.value, error.accepted);
    throw error;
  }
}

function invalid(field: string, value: unknown, accepted: string): InvalidValueError {
  return new InvalidValueError(
    field,
    typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'),
    accepted,
  );
}

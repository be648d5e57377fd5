/** JSON values as Go prints them in messages. */
import { ascending } from '../../lib/ascending.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

/** What Go's decoder says that it has found: `array`, `bool`, `string`. */
export function goName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** The type that Go's decoder gives to a value. */
export function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'number') return 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

function sorted(value: JsonObject): [string, Json][] {
  return Object.entries(value)
    .map(([key, member]): [string, Json] => [key, member ?? null])
    .sort(([a], [b]) => ascending(a, b));
}

/** As `%v` prints it. */
export function goText(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (isObject(value))
    return `map[${sorted(value)
      .map(([key, member]) => `${key}:${goText(member)}`)
      .join(' ')}]`;
  return typeof value === 'number' ? goNumber(value) : String(value);
}

/** As `%#v` prints it. */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (isObject(value)) {
    const members = sorted(value).map(([key, member]) => `${JSON.stringify(key)}:${goSyntax(member)}`);
    return `map[string]interface {}{${members.join(', ')}}`;
  }
  return typeof value === 'number' ? goNumber(value) : JSON.stringify(value);
}

const MOST_INT64 = 2 ** 63;

/** Whole numbers are an int64, others a float64, which from a million on, and when very small, has an exponent of two digits. */
export function goNumber(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < MOST_INT64) return BigInt(value).toString();
  if (size >= 1e-4 && size < 1e6) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/** The functions and methods that CEL expressions call on values. */
import { ascending } from '../../../lib/ascending.ts';
import { tryParseQuantity } from '../../../lib/quantity.ts';
import { isObject, type Json, textOf } from '../json.ts';
import { CelRuntimeError } from './runtime-error.ts';

/** Longest regular expression an object in the store may bring. */
const MAX_PATTERN = 500;

/** @throws CelRuntimeError for one that there is not, and for values that it does not take */
export function callFunction(name: string, values: readonly Json[]): Json {
  const [value] = values;
  switch (name) {
    case 'size':
      return sizeOf(value);
    case 'string':
      return typeof value === 'string' ? value : JSON.stringify(value ?? null);
    case 'int':
      return Math.trunc(numberOf(value, /^[+-]?\d+$/));
    case 'double':
      return numberOf(value, /^\S+$/);
    case 'dyn':
      return value ?? null;
    case 'quantity':
      // One form for one amount: they are equal then.
      return `${nanosOf(value)}n`;
    case 'isQuantity':
      return typeof value === 'string' && tryParseQuantity(value) !== undefined;
    default:
      throw new CelRuntimeError(`undeclared reference to '${name}'`);
  }
}

/** @throws CelRuntimeError as {@link callFunction} */
export function callMethod(name: string, self: Json, values: readonly Json[]): Json {
  const [argument] = values;
  switch (name) {
    case 'startsWith':
      return asText(self).startsWith(asText(argument));
    case 'endsWith':
      return asText(self).endsWith(asText(argument));
    case 'contains':
      return asText(self).includes(asText(argument));
    case 'matches':
      return matches(asText(self), asText(argument));
    case 'size':
      return sizeOf(self);
    case 'lowerAscii':
      return asText(self).toLowerCase();
    case 'split':
      return asText(self).split(asText(argument));
    case 'orValue':
      return self ?? argument ?? null;
    case 'hasValue':
      return self !== null;
    case 'isGreaterThan':
      return nanosOf(self) > nanosOf(argument);
    case 'isLessThan':
      return nanosOf(self) < nanosOf(argument);
    case 'compareTo':
      return ascending(nanosOf(self), nanosOf(argument));
    default:
      throw new CelRuntimeError(`undeclared reference to '${name}'`);
  }
}

function asText(value: Json | undefined): string {
  if (typeof value !== 'string') throw new CelRuntimeError(`expected a string, got ${JSON.stringify(value ?? null)}`);
  return value;
}

function matches(text: string, pattern: string): boolean {
  if (pattern.length > MAX_PATTERN)
    throw new CelRuntimeError(`regular expression longer than ${MAX_PATTERN} characters`);
  try {
    return new RegExp(pattern).test(text);
  } catch {
    throw new CelRuntimeError(`error parsing regexp: ${pattern}`);
  }
}

function nanosOf(value: Json | undefined): bigint {
  const quantity = typeof value === 'string' || typeof value === 'number' ? tryParseQuantity(String(value)) : undefined;
  if (quantity === undefined) throw new CelRuntimeError(`not a quantity: ${JSON.stringify(value ?? null)}`);
  return quantity.nanos;
}

/** @param form of texts that are numbers */
function numberOf(value: Json | undefined, form: RegExp): number {
  const number =
    typeof value === 'number' || (typeof value === 'string' && form.test(value)) ? Number(value) : Number.NaN;
  if (Number.isNaN(number)) throw new CelRuntimeError(`type conversion error: not a number: ${textOf(value)}`);
  return number;
}

function sizeOf(value: Json | undefined): number {
  if (typeof value === 'string') return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  if (isObject(value)) return Object.keys(value).length;
  throw new CelRuntimeError('size() takes a string, list or map');
}

/** What is said of a value that cannot be converted to the type that is wanted. Source: apimachinery pkg/runtime/converter.go. */
import type { Json } from '../json.ts';
import type { FieldType } from './struct-types.ts';

export function inConversion(value: Json, type: FieldType): string {
  const is = kindOf(value);
  if (type.kind === 'struct') return `cannot restore struct from: ${is}`;
  if (type.kind !== 'scalar') return `cannot restore ${type.kind === 'list' ? 'slice' : type.kind} from ${is}`;
  // Go could make one of the other, but a number that is none of the type, or a text of a number's letter, is not meant.
  const isConvertible = type.scalar === 'string' ? is === 'int64' : type.scalar !== 'bool' && typeof value === 'number';
  return isConvertible ? `cannot convert ${is} to ${type.scalar}` : `unrecognized type: ${type.scalar}`;
}

/** Of Go's value. */
function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'object' ? 'map' : typeof value === 'boolean' ? 'bool' : typeof value;
}

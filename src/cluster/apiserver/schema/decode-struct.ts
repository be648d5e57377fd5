/**
 * Reads a body as the real server does, into the struct of its type: fields the struct has not are dropped, values of the wrong type refused, amounts
 * and times brought into their one form, what is empty left out and what is always there put in.
 * Source: sigs.k8s.io/json, and the UnmarshalJSON of apimachinery's own types.
 */

import { formatQuantity, tryParseQuantity } from '../../../lib/quantity.ts';
import { goName } from '../go-text.ts';
import { isObject, type Json, type JsonObject, setMember } from '../json.ts';
import { inConversion } from './conversion-words.ts';
import type { FieldType, StructField, StructType } from './struct-types.ts';

export interface DecodedStruct {
  readonly object: JsonObject;
  /** Paths of fields nobody knows, {@link MOST_UNKNOWN} at most, in the order in which they stand: `spec.containers[0].imge`. */
  readonly unknown: readonly string[];
  /** What could not be read, in the words of the real server. */
  readonly problem?: string;
}

/** A problem after which the real decoder reads no further, and which it tells before any other. */
class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

interface Reading {
  readonly unknown: string[];
  /** Fields and items on the way to where it reads; keys of maps are not told by the real decoder. */
  readonly path: (string | number)[];
  /** Structs on that way. */
  readonly structs: string[];
  problem: string | undefined;
  /** Of a value that is not of the type that is wanted. */
  readonly words: (value: Json, type: FieldType, goType: string, reading: Reading) => string;
}

const AMOUNT_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const AMOUNT_SUFFIX = "unable to parse quantity's suffix";

/** @param stored an object of that type read before: parts of it that `body` holds unchanged are not read again. */
export function decodeStruct(body: JsonObject, struct: StructType, stored?: JsonObject): DecodedStruct {
  return readAll(body, struct, stored, inJson);
}

/**
 * As {@link decodeStruct}, for what a strategic patch or an apply has made, which is no body any more: other words for what cannot be read.
 * Source: apimachinery pkg/runtime/converter.go.
 */
export function convertStruct(body: JsonObject, struct: StructType, stored?: JsonObject): DecodedStruct {
  return readAll(body, struct, stored, inConversion);
}

function readAll(
  body: JsonObject,
  struct: StructType,
  stored: JsonObject | undefined,
  words: Reading['words'],
): DecodedStruct {
  const reading: Reading = { unknown: [], path: [], structs: [], problem: undefined, words };
  try {
    const object = readStruct(body, struct, stored, reading);
    return { object, unknown: reading.unknown, ...(reading.problem === undefined ? {} : { problem: reading.problem }) };
  } catch (error) {
    if (error instanceof Unreadable) return { object: body, unknown: [], problem: error.message };
    throw error;
  }
}

/** A struct in which nothing is set, as Go writes it. */
export function zeroStruct(struct: StructType): JsonObject {
  const object: JsonObject = {};
  addZeros(object, struct);
  return object;
}

function addZeros(object: JsonObject, struct: StructType): void {
  for (const [name, zero] of struct.zeros)
    if (object[name] === undefined) object[name] = 'struct' in zero ? zeroStruct(zero.struct) : zero.value;
}

function readStruct(value: JsonObject, struct: StructType, stored: Json | undefined, reading: Reading): JsonObject {
  const object: JsonObject = {};
  const known = isObject(stored) ? stored : undefined;
  reading.structs.push(struct.name);
  for (const name in value) {
    const member = value[name];
    if (member === undefined) continue;
    // Nothing is stored that has not been read.
    if (member === known?.[name]) {
      object[name] = member;
      continue;
    }
    const field = struct.fields.get(name);
    reading.path.push(name);
    if (isType(name, reading)) object[name] = member;
    else if (field === undefined) noteUnknown(reading);
    else if (member !== null) {
      const read = readField(member, field, known?.[name], reading);
      if (read !== undefined) object[name] = read;
    }
    reading.path.pop();
  }
  reading.structs.pop();
  addZeros(object, struct);
  return object;
}

/** As many as the real decoder tells. */
const MOST_UNKNOWN = 100;

function noteUnknown({ unknown, path }: Reading): void {
  if (unknown.length < MOST_UNKNOWN) unknown.push(printPath(path));
}

/** The two fields of every object that say what it is. */
function isType(name: string, { path }: Reading): boolean {
  return path.length === 1 && (name === 'apiVersion' || name === 'kind');
}

function readField(value: Json, field: StructField, stored: Json | undefined, reading: Reading): Json | undefined {
  const read = readValue(value, field.type, field.goType, stored, reading);
  return field.omitsEmpty && read !== undefined && isEmpty(read, field) ? undefined : read;
}

function isEmpty(value: Json, { type, isPointer }: StructField): boolean {
  if (type.kind === 'list' || type.kind === 'bytes') return Array.isArray(value) ? value.length === 0 : value === '';
  if (type.kind === 'map') return isObject(value) && Object.keys(value).length === 0;
  return type.kind === 'scalar' && !isPointer && (value === '' || value === 0 || value === false);
}

/** Undefined where nothing can be made of it; the problem has been noted then. */
function readValue(
  value: Json,
  type: FieldType,
  goType: string,
  stored: Json | undefined,
  reading: Reading,
): Json | undefined {
  switch (type.kind) {
    case 'any':
      return value;
    case 'scalar':
      return readScalar(value, type, goType, reading);
    case 'struct':
      if (isObject(value)) return readStruct(value, type.struct, stored, reading);
      return mismatch(value, type, goType, reading);
    case 'list':
      if (!Array.isArray(value)) return mismatch(value, type, goType, reading);
      return readList(value, type, stored, reading);
    case 'map':
      if (!isObject(value)) return mismatch(value, type, goType, reading);
      return readMap(value, type, stored, reading);
    default:
      return readForm(value, type.kind, reading);
  }
}

function readList(
  value: Json[],
  { item, itemName }: FieldType & { kind: 'list' },
  stored: Json | undefined,
  reading: Reading,
): Json[] {
  const known = Array.isArray(stored) ? stored : [];
  return value.map((each, index) => {
    if (each !== null && each === known[index]) return each;
    reading.path.push(index);
    const read =
      each === null ? zeroOf(item) : (readValue(each, item, itemName, known[index], reading) ?? zeroOf(item));
    reading.path.pop();
    return read;
  });
}

function readMap(
  value: JsonObject,
  { value: type, valueName }: FieldType & { kind: 'map' },
  stored: Json | undefined,
  reading: Reading,
): JsonObject {
  const known = isObject(stored) ? stored : undefined;
  const map: JsonObject = {};
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    const read = member === null ? zeroOf(type) : readValue(member, type, valueName, known?.[key], reading);
    if (read !== undefined) setMember(map, key, read);
  }
  return map;
}

/** What null is in a list or map. */
function zeroOf(type: FieldType): Json {
  if (type.kind === 'struct') return zeroStruct(type.struct);
  if (type.kind === 'quantity') return '0';
  if (type.kind !== 'scalar') return null;
  return type.scalar === 'string' ? '' : type.scalar === 'bool' ? false : 0;
}

const MOST_INT32 = 2_147_483_647;

function readScalar(
  value: Json,
  type: FieldType & { kind: 'scalar' },
  goType: string,
  reading: Reading,
): Json | undefined {
  const { scalar } = type;
  if (scalar === 'string' || scalar === 'bool') {
    return typeof value === (scalar === 'bool' ? 'boolean' : 'string') ? value : mismatch(value, type, goType, reading);
  }
  if (typeof value !== 'number') return mismatch(value, type, goType, reading);
  const fits =
    scalar === 'float64' ||
    (Number.isInteger(value) && (scalar === 'int64' || (value <= MOST_INT32 && value >= -MOST_INT32 - 1)));
  return fits ? value : mismatch(value, type, goType, reading);
}

/** Types that read themselves. What they cannot read ends the reading. */
function readForm(value: Json, form: string, reading: Reading): Json {
  const refuse = (goType: string): never => {
    const what = typeof value === 'number' && goType !== 'string' ? `number ${value}` : goName(value);
    const place = reading.words === inJson ? placeOf(reading) : 'Go value';
    throw new Unreadable(`json: cannot unmarshal ${what} into ${place} of type ${goType}`);
  };
  switch (form) {
    case 'quantity':
      return readAmount(value);
    case 'intOrString':
      if (typeof value === 'string' || (Number.isInteger(value) && Math.abs(Number(value)) <= MOST_INT32)) return value;
      return refuse('int32');
    case 'time':
    case 'microTime':
      return typeof value === 'string' ? readTime(value, form === 'microTime') : refuse('string');
    default:
      return typeof value === 'string' ? value : refuse(form === 'bytes' ? '[]uint8' : 'string');
  }
}

function readAmount(value: Json): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const amount = tryParseQuantity(text);
  if (amount !== undefined) return formatQuantity(amount);
  // A suffix of its letters that is none is told so, everything else by the form.
  throw new Unreadable(/^[+-]?\d*(?:\.\d*)?[eEinumkKMGTP]+(?:[+-]?\d*)$/.test(text) ? AMOUNT_SUFFIX : AMOUNT_FORM);
}

const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;
/** In its one form already; days that not every month has are looked at. */
const PLAIN_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;

function readTime(text: string, isMicro: boolean): Json {
  if (!isMicro && PLAIN_TIME.test(text)) return text;
  const layout = isMicro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
  const millis = Date.parse(text);
  if (!TIME.test(text) || Number.isNaN(millis)) {
    throw new Unreadable(
      `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(text)} as "2006"`,
    );
  }
  if (!isMicro) return `${new Date(millis).toISOString().slice(0, 19)}Z`;
  if (!MICRO_TIME.test(text)) {
    const rest = text.slice(19);
    throw new Unreadable(
      `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ".000000"`,
    );
  }
  return `${new Date(millis).toISOString().slice(0, 19)}${text.slice(19, 26)}Z`;
}

/** Only the first is told; the decoder reads on. */
function mismatch(value: Json, type: FieldType, goType: string, reading: Reading): undefined {
  reading.problem ??= reading.words(value, type, goType, reading);
  return undefined;
}

function inJson(value: Json, _: FieldType, goType: string, reading: Reading): string {
  const isNumberForNumber = typeof value === 'number' && /^u?int|^float/.test(goType);
  const what = isNumberForNumber ? `number ${value}` : goName(value);
  return `json: cannot unmarshal ${what} into ${placeOf(reading)} of type ${goType}`;
}

/** The struct that has the field, and the fields that lead to it, without items of lists. */
function placeOf({ path, structs }: Reading): string {
  return `Go struct field ${structs.at(-1)}.${path.filter((step) => typeof step === 'string').join('.')}`;
}

function printPath(path: readonly (string | number)[]): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}

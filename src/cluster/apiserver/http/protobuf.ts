/**
 * Reads request bodies in protobuf, in which kubectl sends what it makes (`kubectl create`), and programs with typed clients all they write. Answers are
 * JSON, which such clients take as well.
 * Source: generated.proto of k8s.io/api; of the envelope and of types with a form of their own apimachinery pkg/runtime/serializer/protobuf, pkg/api/resource,
 * pkg/util/intstr and pkg/apis/meta/v1.
 */
import { Buffer } from 'node:buffer';
import { isObject, type Json, type JsonObject, setMember } from '../json.ts';
import {
  DELETE_OPTIONS_STRUCT,
  type FieldNumbers,
  type FieldType,
  SCHEMA_STRUCT,
  type StructType,
  structOf,
} from '../schema/struct-types.ts';
import { badRequest, unsupportedMediaType } from '../status-error.ts';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Bytes before the envelope: `k8s` and a zero. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** Forms of a value: a number of one to ten bytes, eight bytes, bytes after their length, four bytes. */
const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5];

/** Whole numbers are signed, of 64 bits. */
type RawValue = Buffer | bigint | number;
interface RawField {
  readonly number: number;
  readonly value: RawValue;
}

interface Reader {
  isAtEnd(): boolean;
  take(length: number): Buffer;
  varint(): bigint;
}

/** Reads bytes from their beginning. What it hands out throws 400 where there is not as much as is asked for. */
function readerOf(bytes: Buffer): Reader {
  let at = 0;
  const skip = (length: number): number => {
    if (length < 0 || at + length > bytes.length) throw badRequest('protobuf: unexpected end of the body');
    at += length;
    return at - length;
  };
  return {
    isAtEnd: () => at === bytes.length,
    take: (length) => bytes.subarray(skip(length), at),
    varint() {
      let value = 0n;
      for (let shift = 0n; shift < 70n; shift += 7n) {
        const byte = bytes[skip(1)] ?? 0;
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return BigInt.asIntN(64, value);
      }
      throw badRequest('protobuf: a number is too long');
    },
  };
}

/** @throws 400 for bytes that are no message */
function* fieldsIn(bytes: Buffer): Generator<RawField> {
  const { isAtEnd, take, varint } = readerOf(bytes);
  while (!isAtEnd()) {
    const key = Number(varint());
    const [number, form] = [Math.floor(key / 8), key % 8];
    if (form === VARINT) yield { number, value: varint() };
    else if (form === BYTES) yield { number, value: take(Number(varint())) };
    else if (form === FIXED64) yield { number, value: take(8).readDoubleLE() };
    else if (form === FIXED32) yield { number, value: take(4).readFloatLE() };
    else throw badRequest('protobuf: a field of an unknown form');
  }
}

/** The last value of each field, by number. */
function valuesIn(bytes: Buffer): ReadonlyMap<number, RawValue> {
  return new Map([...fieldsIn(bytes)].map(({ number, value }) => [number, value]));
}

function bytesOf(value: RawValue | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (Buffer.isBuffer(value)) return value;
  throw badRequest('protobuf: a number where a text or message is');
}

function textOf(value: RawValue | undefined): string {
  return bytesOf(value).toString('utf8');
}

function numberOf(value: RawValue | undefined): number {
  if (Buffer.isBuffer(value)) throw badRequest('protobuf: a text or message where a number is');
  return Number(value ?? 0);
}

/** The body as JSON. @throws KubeError 400 for broken bodies, 415 for kinds that come as JSON only */
export function decodeProtobuf(bytes: Buffer): JsonObject {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw badRequest('protobuf: the body does not begin with the magic bytes');
  const envelope = valuesIn(bytes.subarray(MAGIC.length));
  const type = valuesIn(bytesOf(envelope.get(1)));
  const [apiVersion, kind] = [textOf(type.get(1)), textOf(type.get(2))];
  const struct = structNamed(apiVersion, kind);
  if (struct === undefined) throw unsupportedMediaType(`objects of kind ${kind} are accepted as application/json only`);
  const object = readMessage(bytesOf(envelope.get(2)), struct, struct.numbers, {});
  return { ...(apiVersion !== '' && { apiVersion }), kind, ...object };
}

function structNamed(apiVersion: string, kind: string): StructType | undefined {
  if (kind === 'DeleteOptions') return DELETE_OPTIONS_STRUCT;
  const [first = '', second] = apiVersion.split('/');
  return structOf({ group: second === undefined ? '' : first, version: second ?? first, kind });
}

/** @param object takes the fields; those of an embedded struct, too */
function readMessage(bytes: Buffer, struct: StructType, numbers: FieldNumbers, object: JsonObject): JsonObject {
  for (const { number, value } of fieldsIn(bytes)) {
    const found = numbers.get(number);
    if (found === undefined) continue;
    if (typeof found !== 'string') readMessage(bytesOf(value), struct, found, object);
    else {
      const type = struct.fields.get(found)?.type;
      if (struct === SCHEMA_STRUCT && isSchemaOr(found)) object[found] = SCHEMA_OR[found](bytesOf(value));
      else if (type !== undefined) object[found] = readField(object[found], value, type);
    }
  }
  return object;
}

const readSchema = (value: RawValue): Json => readMessage(bytesOf(value), SCHEMA_STRUCT, SCHEMA_STRUCT.numbers, {});

function schemaOrList(bytes: Buffer): Json {
  const fields = [...fieldsIn(bytes)];
  const schema = fields.find(({ number }) => number === 1);
  if (schema !== undefined) return readSchema(schema.value);
  return fields.filter(({ number }) => number === 2).map(({ value }) => readSchema(value));
}

function schemaOrBool(bytes: Buffer): Json {
  const values = valuesIn(bytes);
  const schema = values.get(2);
  return schema === undefined ? numberOf(values.get(1)) !== 0 : readSchema(schema);
}

/** Fields of a schema that are in JSON one thing or another, and in protobuf a message that has room for both. */
const SCHEMA_OR = {
  items: schemaOrList,
  additionalItems: schemaOrBool,
  additionalProperties: schemaOrBool,
} as const;

function isSchemaOr(name: string): name is keyof typeof SCHEMA_OR {
  return Object.hasOwn(SCHEMA_OR, name);
}

/** Fields of lists and maps come once for each item, which may be a million times. */
function readField(present: Json | undefined, value: RawValue, type: FieldType): Json {
  if (type.kind === 'list') {
    const list = Array.isArray(present) ? present : [];
    for (const item of itemsIn(value, type.item)) list.push(item);
    return list;
  }
  if (type.kind !== 'map') return readValue(value, type);
  const entry = valuesIn(bytesOf(value));
  const map = isObject(present) ? present : {};
  setMember(map, textOf(entry.get(1)), readValue(entry.get(2) ?? Buffer.alloc(0), type.value));
  return map;
}

/** Numbers may come all in one. */
function* itemsIn(value: RawValue, item: FieldType): Generator<Json> {
  const isPacked = item.kind === 'scalar' && item.scalar !== 'string' && Buffer.isBuffer(value);
  if (!isPacked) {
    yield readValue(value, item);
    return;
  }
  const { isAtEnd, varint } = readerOf(value);
  while (!isAtEnd()) yield readValue(varint(), item);
}

function readValue(value: RawValue, type: FieldType): Json {
  switch (type.kind) {
    case 'scalar':
      if (type.scalar === 'string') return textOf(value);
      return type.scalar === 'bool' ? numberOf(value) !== 0 : numberOf(value);
    case 'struct':
      return readMessage(bytesOf(value), type.struct, type.struct.numbers, {});
    case 'list':
      // The value of a map: a message that has nothing but the items.
      return [...fieldsIn(bytesOf(value))].flatMap((field) => [...itemsIn(field.value, type.item)]);
    case 'map':
      return {};
    case 'bytes':
      return bytesOf(value).toString('base64');
    default:
      return readForm(valuesIn(bytesOf(value)), type.kind);
  }
}

/** Types that have a message of their own. */
function readForm(values: ReadonlyMap<number, RawValue>, form: string): Json {
  const [first, second, third] = [values.get(1), values.get(2), values.get(3)];
  switch (form) {
    case 'quantity':
      return textOf(first) || '0';
    case 'intOrString':
      return numberOf(first) === 1 ? textOf(third) : numberOf(second);
    case 'duration':
      return `${numberOf(first) / 1e9}s`;
    case 'time':
    case 'microTime':
      return values.size === 0 ? null : timeOf(numberOf(first), numberOf(second), form === 'microTime');
    default:
      return first === undefined ? null : jsonOf(textOf(first));
  }
}

function timeOf(seconds: number, nanos: number, isMicro: boolean): string {
  const date = new Date(seconds * 1_000);
  if (Number.isNaN(date.getTime())) throw badRequest('protobuf: a time no calendar has');
  const text = date.toISOString().slice(0, -5);
  return isMicro ? `${text}.${String(Math.floor(nanos / 1_000)).padStart(6, '0')}Z` : `${text}Z`;
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('protobuf: a field that should be JSON is none');
  }
}

/**
 * Reads the few request bodies kubectl sends in protobuf: reviews, evictions and deletions. Everything else it sends as
 * JSON. Source of the numbers: generated.proto of k8s.io/api; envelope: apimachinery pkg/runtime/serializer/protobuf.
 */
import { Buffer } from 'node:buffer';
import { type Json, type JsonObject, textOf } from '../json.ts';
import { badRequest, unsupportedMediaType } from '../status-error.ts';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

type Field = readonly [name: string, form: 'text' | 'number' | 'boolean' | 'texts' | Message];
interface Message {
  readonly [number: number]: Field;
}

const METADATA: Message = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
};
const DELETE_OPTIONS: Message = {
  1: ['gracePeriodSeconds', 'number'],
  2: ['preconditions', { 1: ['uid', 'text'], 2: ['resourceVersion', 'text'] }],
  3: ['orphanDependents', 'boolean'],
  4: ['propagationPolicy', 'text'],
  5: ['dryRun', 'texts'],
};
const RESOURCE: Message = {
  1: ['namespace', 'text'],
  2: ['verb', 'text'],
  3: ['group', 'text'],
  4: ['version', 'text'],
  5: ['resource', 'text'],
  6: ['subresource', 'text'],
  7: ['name', 'text'],
};
const ACCESS: Message = {
  1: ['resourceAttributes', RESOURCE],
  2: ['nonResourceAttributes', { 1: ['path', 'text'], 2: ['verb', 'text'] }],
};

const KINDS: Readonly<Record<string, Message>> = {
  DeleteOptions: DELETE_OPTIONS,
  Eviction: { 1: ['metadata', METADATA], 2: ['deleteOptions', DELETE_OPTIONS] },
  SelfSubjectAccessReview: { 1: ['metadata', METADATA], 2: ['spec', ACCESS] },
  SelfSubjectReview: { 1: ['metadata', METADATA] },
  SelfSubjectRulesReview: { 1: ['metadata', METADATA], 2: ['spec', { 1: ['namespace', 'text'] }] },
  SubjectAccessReview: {
    1: ['metadata', METADATA],
    2: ['spec', { ...ACCESS, 3: ['user', 'text'], 4: ['groups', 'texts'] }],
  },
};

/** Bytes before the envelope: `k8s` and a zero. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

interface RawField {
  readonly number: number;
  readonly value: Buffer | number;
}

function* fieldsIn(bytes: Buffer): Generator<RawField> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) throw badRequest('protobuf: unexpected end of the body');
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw badRequest('protobuf: a number is too long');
  };
  while (at < bytes.length) {
    const key = varint();
    const number = Math.floor(key / 8);
    if (key % 8 === 0) yield { number, value: varint() };
    else if (key % 8 === 2) {
      const length = varint();
      if (at + length > bytes.length) throw badRequest('protobuf: unexpected end of the body');
      yield { number, value: bytes.subarray(at, at + length) };
      at += length;
    } else throw badRequest('protobuf: a field of an unknown form');
  }
}

function decode(bytes: Buffer, message: Message): JsonObject {
  const result: JsonObject = {};
  for (const { number, value } of fieldsIn(bytes)) {
    const field = message[number];
    if (field === undefined) continue;
    const [name, form] = field;
    if (typeof value === 'number') result[name] = form === 'boolean' ? value !== 0 : value;
    else if (form === 'texts') result[name] = [...asList(result[name]), value.toString('utf8')];
    else if (form === 'text') {
      // Empty texts stand for absent ones.
      if (value.length > 0) result[name] = value.toString('utf8');
    } else if (typeof form === 'object') result[name] = decode(value, form);
  }
  return result;
}

function asList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

const ENVELOPE: Message = { 1: ['type', { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] }] };

/** The body as JSON. Throws 400 for broken bodies and 415 for kinds that must come as JSON. */
export function decodeProtobuf(bytes: Buffer): JsonObject {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw badRequest('protobuf: the body does not begin with the magic bytes');
  const envelope = bytes.subarray(MAGIC.length);
  const { type } = decode(envelope, ENVELOPE);
  const { apiVersion, kind } = typeof type === 'object' && type !== null && !Array.isArray(type) ? type : {};
  const message = KINDS[textOf(kind)];
  if (message === undefined)
    throw unsupportedMediaType(`objects of kind ${textOf(kind)} are accepted as application/json only`);
  for (const { number, value } of fieldsIn(envelope)) {
    if (number === 2 && typeof value !== 'number')
      return { ...(apiVersion === undefined ? {} : { apiVersion }), kind: textOf(kind), ...decode(value, message) };
  }
  return { kind: textOf(kind) };
}

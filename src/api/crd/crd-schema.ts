/** From a zod schema to the structural OpenAPI v3 schema that a CustomResourceDefinition takes. */

import * as z from 'zod';
import { isRecord } from '../../lib/is-record.ts';

/** A structural schema (`apiextensions.k8s.io/v1` JSONSchemaProps), as plain data. */
export type CrdSchema = Record<string, unknown>;

/** The zod schema says something a structural schema has no form for. Thrown while CRDs are generated, never on a cluster. */
export class NotStructuralError extends Error {
  override readonly name = 'NotStructuralError';
  readonly code = 'NOT_STRUCTURAL';
}

/** Kept as they are. What is not here and has no rule below is refused, so that nothing gets lost in silence. */
const plainKeys: ReadonlySet<string> = new Set([
  'type',
  'description',
  'default',
  'enum',
  'format',
  'pattern',
  'nullable',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'required',
]);

/**
 * What a client may send, as a structural schema: defaults, enums, bounds and descriptions from zod; `x-kubernetes-*` markers, CEL
 * rules included, from `.meta(...)`. Objects are closed: the API server prunes what they do not name.
 * @throws NotStructuralError for unions (other than int-or-string fields of fields.ts), references and unknown keywords.
 */
export function crdSchema(schema: z.ZodType): CrdSchema {
  return structural(
    z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', reused: 'inline', cycles: 'throw' }),
    '',
  );
}

function structural(node: unknown, path: string): CrdSchema {
  if (!isRecord(node)) throw new NotStructuralError(`${path || 'the root'}: not a schema`);
  if (node['x-kubernetes-int-or-string'] === true) return intOrString(node);
  const result: CrdSchema = {};
  for (const [key, value] of Object.entries(node)) {
    if (plainKeys.has(key) || key.startsWith('x-kubernetes-')) result[key] = value;
    else if (key === 'properties' && isRecord(value)) {
      result[key] = Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, structural(member, `${path}.${name}`)]),
      );
    } else if (key === 'items') result[key] = structural(value, `${path}[]`);
    else if (key === 'additionalProperties') {
      if (isRecord(value) && Object.keys(value).length > 0) result[key] = structural(value, `${path}.*`);
    } else if (key !== '$schema' && key !== 'propertyNames' && key !== 'id' && key !== 'title')
      throw new NotStructuralError(`${path || 'the root'}: ${key} has no place in a structural schema`);
  }
  return inOrder(result['type'] === 'integer' ? integer(result) : result);
}

const readingOrder = ['type', 'format', 'description', 'default', 'enum', 'required', 'properties', 'items'];

/** For people who read the YAML: what it is before what it holds. */
function inOrder(schema: CrdSchema): CrdSchema {
  const known = readingOrder.filter((key) => schema[key] !== undefined);
  const rest = Object.keys(schema).filter((key) => !readingOrder.includes(key));
  return Object.fromEntries([...known, ...rest].map((key) => [key, schema[key]]));
}

/** The form of int-or-string that the API server takes, character by character. */
function intOrString({ description, default: fallback, pattern, ...rest }: CrdSchema): CrdSchema {
  return {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
    ...(pattern !== undefined && { pattern }),
    ...(rest['x-kubernetes-validations'] !== undefined && {
      'x-kubernetes-validations': rest['x-kubernetes-validations'],
    }),
    'x-kubernetes-int-or-string': true,
  };
}

const INT32_MAX = 2_147_483_647;

/** zod tells the range of the number type as bounds; the API has a format for that. */
function integer({ minimum, maximum, ...rest }: CrdSchema): CrdSchema {
  const isSmall = typeof minimum === 'number' && typeof maximum === 'number' && minimum >= -INT32_MAX - 1;
  return {
    ...rest,
    format: isSmall && maximum <= INT32_MAX ? 'int32' : 'int64',
    ...(isOwnBound(minimum) && { minimum }),
    ...(isOwnBound(maximum) && { maximum }),
  };
}

function isOwnBound(bound: unknown): boolean {
  if (typeof bound !== 'number') return false;
  const size = bound < 0 ? -bound - 1 : bound;
  return size !== INT32_MAX && size < Number.MAX_SAFE_INTEGER - 1;
}

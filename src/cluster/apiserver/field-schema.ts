/**
 * How fields merge under server-side apply: which lists are keyed, which are sets, which maps count as one value.
 * Source: the listType, listMapKey and mapType markers of k8s.io/api; for custom resources their x-kubernetes-* extensions.
 */
import { isObject, type Json, type JsonObject, objectAt, stringAt, stringsAt } from './json.ts';
import { type FieldType, METADATA_STRUCT, type StructField, type StructType } from './schema/struct-types.ts';

export interface FieldSchema {
  /** Keys of a list's items, `set` for a list of distinct scalars, undefined for a list that is one value. */
  listKeys(): readonly string[] | 'set' | undefined;
  /** The map is one value, owned as a whole. */
  readonly atomicMap: boolean;
  member(name: string): FieldSchema;
  item(): FieldSchema;
}

const PLAIN: FieldSchema = { atomicMap: false, listKeys: () => undefined, member: () => PLAIN, item: () => PLAIN };

/** Schemas by struct, each made once for the life of the schema they are reached from. */
type Known = Map<StructType, FieldSchema>;

/** The schema of a built-in type. */
export function schemaFromStruct(struct: StructType): FieldSchema {
  return schemaOfStruct(struct, false, new Map());
}

function schemaOfStruct(struct: StructType, isAtomic: boolean, known: Known): FieldSchema {
  const present = isAtomic ? undefined : known.get(struct);
  if (present !== undefined) return present;
  const members = new Map<string, FieldSchema>();
  const schema: FieldSchema = {
    atomicMap: isAtomic || struct.isAtomic,
    listKeys: () => undefined,
    member(name) {
      const made = members.get(name);
      if (made !== undefined) return made;
      const field = struct.fields.get(name);
      const member = field === undefined ? PLAIN : schemaOfType(field.type, field, known);
      if (field !== undefined) members.set(name, member);
      return member;
    },
    item: () => PLAIN,
  };
  if (!isAtomic) known.set(struct, schema);
  return schema;
}

/** @param field says how the value itself merges; absent for what is inside of a list or map. */
function schemaOfType(type: FieldType, field: StructField | undefined, known: Known): FieldSchema {
  switch (type.kind) {
    case 'struct':
      return schemaOfStruct(type.struct, field?.isAtomic ?? false, known);
    case 'list': {
      const item = schemaOfType(type.item, undefined, known);
      return { ...PLAIN, listKeys: () => field?.listKeys, item: () => item };
    }
    case 'map': {
      const value = schemaOfType(type.value, undefined, known);
      return { ...PLAIN, atomicMap: field?.isAtomic ?? false, member: () => value };
    }
    default:
      // What no struct describes is one value, as fieldsV1.
      return type.kind === 'any' ? { ...PLAIN, atomicMap: true } : PLAIN;
  }
}

const METADATA_SCHEMA = schemaFromStruct(METADATA_STRUCT);

/** Of types of which nothing but their metadata is known. */
export const METADATA_ONLY_SCHEMA: FieldSchema = {
  ...PLAIN,
  member: (name) => (name === 'metadata' ? METADATA_SCHEMA : PLAIN),
};

/** The schema of a custom resource version; fields it does not describe are single values. */
export function schemaFromOpenApi(schema: JsonObject | undefined): FieldSchema {
  return {
    atomicMap: stringAt(schema, 'x-kubernetes-map-type') === 'atomic',
    listKeys() {
      const kind = stringAt(schema, 'x-kubernetes-list-type');
      if (kind === 'set') return 'set';
      return kind === 'map' ? stringsAt(schema, 'x-kubernetes-list-map-keys') : undefined;
    },
    member(name) {
      if (name === 'metadata') return METADATA_SCHEMA;
      const additional = objectAt(schema, 'additionalProperties');
      return schemaFromOpenApi(objectAt(schema, 'properties', name) ?? additional);
    },
    item: () => schemaFromOpenApi(objectAt(schema, 'items')),
  };
}

/** Values list keys have when an item leaves them out. */
const KEY_DEFAULTS: Readonly<Record<string, Json>> = { protocol: 'TCP' };

/** The path element of a list item, `k:{"name":"web"}`; undefined when the item lacks a key. */
export function itemElement(item: Json, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  const parts: JsonObject = {};
  for (const key of [...keys].sort()) {
    const value = item[key] ?? KEY_DEFAULTS[key];
    if (value === undefined || value === null) return undefined;
    parts[key] = value;
  }
  return `k:${JSON.stringify(parts)}`;
}

/**
 * How fields merge under server-side apply: which lists are keyed, which are sets, which maps count as one value, and what a configuration may hold.
 * Source: the listType, listMapKey and mapType markers of k8s.io/api; for custom resources their x-kubernetes-* extensions; kube-openapi pkg/schemaconv.
 */
import { isObject, type Json, type JsonObject, objectAt, stringAt, stringsAt } from './json.ts';
import { type FieldType, METADATA_STRUCT, type StructField, type StructType } from './schema/struct-types.ts';

/** What a value has to be; `scalar` is any but a list or map. */
export type FieldForm = 'string' | 'number' | 'boolean' | 'scalar' | 'list' | 'map' | 'any';

export interface FieldSchema {
  readonly form: FieldForm;
  /** Keys of a list's items, `set` for a list of distinct scalars, undefined for a list that is one value. */
  listKeys(): readonly string[] | 'set' | undefined;
  /** The map is one value, owned as a whole. */
  readonly atomicMap: boolean;
  /** Whether a map may have the member. */
  knows(name: string): boolean;
  /** What a member of a map counts as where it is a key of a list's item and absent. */
  fallback(name: string): Json | undefined;
  member(name: string): FieldSchema;
  item(): FieldSchema;
}

/** Keys of lists that the real server fills in before it looks at them. */
const KEY_DEFAULTS: Readonly<Record<string, Json>> = { protocol: 'TCP' };

const PLAIN: FieldSchema = {
  form: 'any',
  atomicMap: false,
  listKeys: () => undefined,
  knows: () => true,
  fallback: () => undefined,
  member: () => PLAIN,
  item: () => PLAIN,
};

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
    form: 'map',
    atomicMap: isAtomic || struct.isAtomic,
    listKeys: () => undefined,
    knows: (name) => struct.fields.has(name),
    fallback(name) {
      const zero = struct.fields.get(name)?.zero;
      return KEY_DEFAULTS[name] ?? (zero !== undefined && 'value' in zero ? zero.value : undefined);
    },
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
      return { ...PLAIN, form: 'list', listKeys: () => field?.listKeys, item: () => item };
    }
    case 'map': {
      const value = schemaOfType(type.value, undefined, known);
      return { ...PLAIN, form: 'map', atomicMap: field?.isAtomic ?? false, member: () => value };
    }
    case 'any':
      // What no struct describes is one value, as fieldsV1.
      return { ...PLAIN, atomicMap: true };
    default:
      return { ...PLAIN, form: formOf(type) };
  }
}

function formOf(type: FieldType): FieldForm {
  if (type.kind === 'scalar') {
    if (type.scalar === 'string') return 'string';
    return type.scalar === 'bool' ? 'boolean' : 'number';
  }
  // Its schema names two forms, which is as good as none.
  if (type.kind === 'intOrString') return 'any';
  return type.kind === 'bytes' || type.kind === 'duration' ? 'string' : 'scalar';
}

const METADATA_SCHEMA = schemaFromStruct(METADATA_STRUCT);

/** Of types of which nothing but their metadata is known. */
export const METADATA_ONLY_SCHEMA: FieldSchema = {
  ...PLAIN,
  member: (name) => (name === 'metadata' ? METADATA_SCHEMA : PLAIN),
};

/** The schema of a custom resource version; fields it does not describe are single values. */
export function schemaFromOpenApi(schema: JsonObject | undefined): FieldSchema {
  return ofObject(schemaOfNode(schema, false));
}

/** With what every object has, whether or not its schema says so. */
function ofObject(schema: FieldSchema): FieldSchema {
  const isOwn = (name: string): boolean => name === 'apiVersion' || name === 'kind' || name === 'metadata';
  return {
    ...schema,
    knows: (name) => isOwn(name) || schema.knows(name),
    member: (name) => (name === 'metadata' ? METADATA_SCHEMA : schema.member(name)),
  };
}

/** @param keepsUnknown something above says that unknown fields are kept */
function schemaOfNode(schema: JsonObject | undefined, keepsUnknown: boolean): FieldSchema {
  if (schema === undefined) return PLAIN;
  const keeps = keepsUnknown || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const properties = objectAt(schema, 'properties');
  const additional = objectAt(schema, 'additionalProperties');
  const allowsOthers = additional !== undefined || schema['additionalProperties'] === true;
  const made: FieldSchema = {
    form: formOfNode(schema),
    atomicMap: stringAt(schema, 'x-kubernetes-map-type') === 'atomic',
    listKeys() {
      const kind = stringAt(schema, 'x-kubernetes-list-type');
      if (kind === 'set') return 'set';
      return kind === 'map' ? stringsAt(schema, 'x-kubernetes-list-map-keys') : undefined;
    },
    knows: (name) => keeps || allowsOthers || properties === undefined || objectAt(properties, name) !== undefined,
    fallback: (name) => objectAt(properties, name)?.['default'],
    member: (name) => schemaOfNode(objectAt(properties, name) ?? additional, keeps),
    item: () => schemaOfNode(objectAt(schema, 'items'), keeps),
  };
  return schema['x-kubernetes-embedded-resource'] === true ? ofObject(made) : made;
}

function formOfNode(schema: JsonObject): FieldForm {
  switch (schema['type']) {
    case 'object':
      return 'map';
    case 'array':
      return 'list';
    case 'boolean':
      return 'boolean';
    case 'integer':
    case 'number':
      return 'number';
    case 'string': {
      const format = stringAt(schema, 'format') ?? '';
      return format === '' || format === 'byte' ? 'string' : 'scalar';
    }
    default:
      return 'any';
  }
}

/** The keys of a list's item that it has or that have a value without it, by name. */
export function keysOf(item: JsonObject, keys: readonly string[], list: FieldSchema): [string, Json][] {
  const items = list.item();
  return [...keys].sort().flatMap((key): [string, Json][] => {
    const value = item[key] === undefined ? items.fallback(key) : item[key];
    return value === undefined ? [] : [[key, value]];
  });
}

/** The path element of a list item, `k:{"name":"web"}`; undefined when the item has no key at all. */
export function itemElement(item: Json, keys: readonly string[], list: FieldSchema): string | undefined {
  if (!isObject(item)) return undefined;
  const found = keysOf(item, keys, list);
  return found.length === 0 ? undefined : `k:${JSON.stringify(Object.fromEntries(found))}`;
}

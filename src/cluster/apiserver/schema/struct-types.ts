/**
 * What this server knows of the built-in types: their Go structs, field by field, as scripts/api-types.ts has written them down.
 * A field's text is its Go type and flags: `*` pointer, `[]` list, `{}` map of text keys, `v1.Name=` a named type; then `o` left out where it is
 * empty, which structs never are, `z` left out where it is zero, `keys=` and `set` how server-side apply tells items of a list apart, `merge` how a strategic patch does, `atomic` one value,
 * `#2.1` its number in protobuf, where the fields of an embedded struct are a message of their own.
 */
import builtIn from './built-in-types.json' with { type: 'json' };

/** Types with a text form of their own; `any` is what no struct describes. */
const FORMS = ['quantity', 'intOrString', 'time', 'microTime', 'duration', 'bytes', 'any'] as const;
const SCALARS = ['string', 'bool', 'int32', 'int64', 'float64'] as const;

export type FieldType =
  | { readonly kind: 'scalar'; readonly scalar: (typeof SCALARS)[number] }
  | { readonly kind: (typeof FORMS)[number] }
  | { readonly kind: 'list'; readonly item: FieldType; readonly itemName: string }
  | { readonly kind: 'map'; readonly value: FieldType; readonly valueName: string }
  | { readonly kind: 'struct'; readonly struct: StructType };

/** A value, or a struct of nothing but zeros. */
export type Zero = { readonly value: '' | 0 | false | '0' | null } | { readonly struct: StructType };

export interface StructField {
  readonly type: FieldType;
  /** As Go's messages name the type, a pointer without its star: `[]v1.Container`. */
  readonly goType: string;
  /** Absent is another value than zero. */
  readonly isPointer: boolean;
  /** What stands in the object where the field is absent; undefined where it is then left out. */
  readonly zero: Zero | undefined;
  /** An empty value counts as absent. */
  readonly omitsEmpty: boolean;
  /** Of a list: what tells its items apart under server-side apply, `set` for a list of distinct values. */
  readonly listKeys?: readonly string[] | 'set';
  /** A map or struct that is one value. */
  readonly isAtomic: boolean;
  /** Of a list: a strategic patch merges it, by this field of its items; '' for a list of values. */
  readonly mergeKey?: string;
  /** A strategic patch replaces the map, as one of `patchStrategy: replace`. */
  readonly isReplaced: boolean;
}

/** The name of a field, or the fields of an embedded struct. */
export type FieldNumbers = ReadonlyMap<number, string | FieldNumbers>;

export interface StructType {
  /** As Go's messages name it: `PodSpec`. */
  readonly name: string;
  readonly isAtomic: boolean;
  readonly fields: ReadonlyMap<string, StructField>;
  /** The fields by their numbers in protobuf. */
  readonly numbers: FieldNumbers;
  /** What stands in every object, as far as nothing else is said there. */
  readonly zeros: readonly (readonly [field: string, Zero])[];
}

function isOneOf<T extends string>(text: string, all: readonly T[]): text is T {
  return all.some((each) => each === text);
}

type BuildingNumbers = Map<number, string | BuildingNumbers>;

interface Building extends StructType {
  readonly fields: Map<string, StructField>;
  readonly numbers: BuildingNumbers;
  readonly zeros: [string, Zero][];
}

function readStructs(
  texts: Readonly<Record<string, Readonly<Record<string, string>>>>,
): ReadonlyMap<string, StructType> {
  const structs = new Map<string, Building>();
  for (const [key, { '': own }] of Object.entries(texts))
    structs.set(key, {
      name: key.slice(key.indexOf('.') + 1),
      isAtomic: own === 'atomic',
      fields: new Map(),
      numbers: new Map(),
      zeros: [],
    });

  /** The type and how Go names it. */
  const typeOf = (text: string): readonly [FieldType, string] => {
    const named = /^([\w.]+)=(.+)$/.exec(text);
    if (named !== null) return [typeOf(named[2] ?? '')[0], named[1] ?? ''];
    if (text.startsWith('[]')) {
      const [item, name] = typeOf(text.slice(2));
      return [{ kind: 'list', item, itemName: name }, `[]${name}`];
    }
    if (text.startsWith('{}')) {
      const [value, name] = typeOf(text.slice(2));
      return [{ kind: 'map', value, valueName: name }, `map[string]${name}`];
    }
    if (text.startsWith('*')) {
      const [type, name] = typeOf(text.slice(1));
      return [type, `*${name}`];
    }
    if (isOneOf(text, SCALARS)) return [{ kind: 'scalar', scalar: text }, text];
    if (text === 'int') return [{ kind: 'scalar', scalar: 'int64' }, text];
    if (isOneOf(text, FORMS)) return [{ kind: text }, text];
    const struct = structs.get(text);
    if (struct === undefined) throw new Error(`no struct ${text}`);
    return [{ kind: 'struct', struct }, text.slice(text.indexOf('/') + 1)];
  };

  for (const [key, struct] of structs)
    for (const [name, text] of Object.entries(texts[key] ?? {})) {
      if (name === '') continue;
      const field = fieldOf(text, typeOf);
      struct.fields.set(name, field);
      if (field.zero !== undefined) struct.zeros.push([name, field.zero]);
      const path = / #([\d.]+)$/.exec(text)?.[1];
      if (path !== undefined) noteNumber(struct.numbers, path.split('.').map(Number), name);
    }
  return structs;
}

function noteNumber(numbers: BuildingNumbers, [number = 0, ...rest]: readonly number[], name: string): void {
  if (rest.length === 0) {
    numbers.set(number, name);
    return;
  }
  const known = numbers.get(number);
  const inner: BuildingNumbers = known instanceof Map ? known : new Map();
  numbers.set(number, inner);
  noteNumber(inner, rest, name);
}

function fieldOf(text: string, typeOf: (text: string) => readonly [FieldType, string]): StructField {
  const [typeText = '', ...flags] = text.split(' ');
  const isPointer = typeText.startsWith('*');
  const [type, goType] = typeOf(isPointer ? typeText.slice(1) : typeText);
  const valueAt = (flag: string): string | undefined =>
    flags.find((each) => each.startsWith(`${flag}=`))?.slice(flag.length + 1);
  const keys = flags.includes('set') ? 'set' : valueAt('keys')?.split(',');
  const mergeKey = flags.includes('merge') ? '' : valueAt('merge');
  return {
    type,
    goType,
    isPointer,
    zero: flags.includes('z') ? undefined : zeroOf(type, isPointer, flags.includes('o')),
    omitsEmpty: flags.includes('o') || flags.includes('z'),
    ...(keys === undefined ? {} : { listKeys: keys }),
    isAtomic: flags.includes('atomic'),
    ...(mergeKey === undefined ? {} : { mergeKey }),
    isReplaced: flags.includes('replace'),
  };
}

/** As Go writes it: `omitempty` leaves out all but structs, of which times and amounts are some. */
function zeroOf(type: FieldType, isPointer: boolean, omitsEmpty: boolean): Zero | undefined {
  if (isPointer || type.kind === 'any') return omitsEmpty || type.kind === 'any' ? undefined : { value: null };
  switch (type.kind) {
    case 'struct':
      return { struct: type.struct };
    case 'quantity':
      return { value: '0' };
    case 'intOrString':
      return { value: 0 };
    case 'time':
    case 'microTime':
      return { value: null };
    case 'scalar':
      if (omitsEmpty) return undefined;
      return { value: type.scalar === 'string' ? '' : type.scalar === 'bool' ? false : 0 };
    default:
      return omitsEmpty ? undefined : { value: null };
  }
}

/** By folder and name: `core/v1.Pod`. */
const structs = readStructs(builtIn);

/** The struct of a built-in type; undefined for others. */
export function structOf({
  group,
  version,
  kind,
}: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): StructType | undefined {
  return structs.get(`${group === '' ? 'core' : group.split('.')[0]}/${version}.${kind}`);
}

function known(key: string): StructType {
  const struct = structs.get(key);
  if (struct === undefined) throw new Error(`no struct ${key}`);
  return struct;
}

/** Of the metadata of every object. */
export const METADATA_STRUCT = known('meta/v1.ObjectMeta');
export const DELETE_OPTIONS_STRUCT = known('meta/v1.DeleteOptions');
/** Of schemas of custom resources. */
export const SCHEMA_STRUCT = known('apiextensions/v1.JSONSchemaProps');

/** Of objects of which only the metadata is known. */
export const METADATA_HOLDER: StructType = {
  name: 'Object',
  isAtomic: false,
  fields: new Map([
    [
      'metadata',
      {
        type: { kind: 'struct', struct: METADATA_STRUCT },
        goType: 'v1.ObjectMeta',
        isPointer: false,
        zero: { struct: METADATA_STRUCT },
        omitsEmpty: true,
        isAtomic: false,
        isReplaced: false,
      },
    ],
  ]),
  numbers: new Map([[1, 'metadata']]),
  zeros: [['metadata', { struct: METADATA_STRUCT }]],
};

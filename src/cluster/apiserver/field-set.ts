/**
 * Sets of fields in the form managedFields stores them (FieldsV1), and the operations ownership needs.
 * A node without children is a field in the set; the child `.` says that a node with children is in the set itself.
 * Source of the form: structured-merge-diff fieldpath/serialize.go.
 */

import { type FieldSchema, itemElement } from './field-schema.ts';
import { equalJson, isObject, type Json } from './json.ts';

export interface FieldSet {
  [element: string]: FieldSet;
}

const SELF = '.';

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** The children of a value as path elements; undefined for a single value. */
function childrenOf(
  value: Json | undefined,
  schema: FieldSchema,
): [element: string, value: Json, schema: FieldSchema][] | undefined {
  if (isObject(value)) {
    if (schema.atomicMap) return undefined;
    const children: [string, Json, FieldSchema][] = [];
    for (const key in value) {
      const member = value[key];
      if (member !== undefined) children.push([`f:${key}`, member, schema.member(key)]);
    }
    return children.length === 0 ? undefined : children;
  }
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const keys = schema.listKeys(value);
  if (keys === undefined) return undefined;
  if (keys === 'set') return value.map((item) => [`v:${JSON.stringify(item)}`, item, schema.item()]);
  const children: [string, Json, FieldSchema][] = [];
  for (const item of value) {
    const element = itemElement(item, keys);
    // An item without its keys makes the list one value.
    if (element === undefined) return undefined;
    children.push([element, item, schema.item()]);
  }
  return children;
}

/** Every field of `value`; items of keyed lists are in the set themselves, maps are not. */
export function fieldsOf(value: Json, schema: FieldSchema): FieldSet {
  const set: FieldSet = {};
  for (const [element, child, childSchema] of childrenOf(value, schema) ?? []) {
    const below = fieldsOf(child, childSchema);
    set[element] = element.startsWith('k:') ? { [SELF]: {}, ...below } : below;
  }
  return set;
}

/** Maps every object of a type has anyway: they are never owned themselves. */
const STRUCTURAL: ReadonlySet<string> = new Set([
  'f:metadata',
  'f:spec',
  'f:status',
  'f:template',
  'f:strategy',
  'f:updateStrategy',
  'f:containers',
  'f:data',
]);

/** Fields whose value `after` adds or changes. */
export function changedFields(before: Json | undefined, after: Json, schema: FieldSchema): FieldSet {
  const set: FieldSet = {};
  if (before === after) return set;
  const known = new Map<string, Json>();
  for (const [element, child] of childrenOf(before, schema) ?? []) known.set(element, child);
  for (const [element, child, childSchema] of childrenOf(after, schema) ?? []) {
    const old = known.get(element);
    if (old === child) continue;
    if (childrenOf(child, childSchema) === undefined) {
      if (!equalJson(old, child)) set[element] = {};
      continue;
    }
    const below = changedFields(old, child, childSchema);
    const isNew = old === undefined && !STRUCTURAL.has(element);
    if (isNew) set[element] = { [SELF]: {}, ...below };
    else if (!isEmptySet(below)) set[element] = below;
  }
  return set;
}

/** All of `a` and all of `b`. */
export function unionSets(a: FieldSet, b: FieldSet): FieldSet {
  const result: FieldSet = { ...a };
  for (const [element, below] of Object.entries(b)) {
    const present = result[element];
    if (present === undefined) result[element] = below;
    else result[element] = joinNodes(present, below);
  }
  return result;
}

/** A field in both sets with children in one of them is in the union itself. */
function joinNodes(a: FieldSet, b: FieldSet): FieldSet {
  const leafA = isEmptySet(a);
  const leafB = isEmptySet(b);
  if (leafA && leafB) return {};
  const joined = unionSets(a, b);
  return leafA || leafB ? { [SELF]: {}, ...joined } : joined;
}

/** Fields of `a` that are not in `b`. */
export function subtractSets(a: FieldSet, b: FieldSet): FieldSet {
  const result: FieldSet = {};
  for (const [element, below] of Object.entries(a)) {
    const other = b[element];
    if (other === undefined) {
      result[element] = below;
      continue;
    }
    if (isEmptySet(below)) {
      // The field is in b itself when it is a leaf there or marked so.
      if (!isEmptySet(other) && other[SELF] === undefined) result[element] = {};
      continue;
    }
    const rest = subtractSets(below, isEmptySet(other) ? { [SELF]: {} } : other);
    if (!isEmptySet(rest)) result[element] = rest;
  }
  return result;
}

/** Fields in both sets. */
export function intersectSets(a: FieldSet, b: FieldSet): FieldSet {
  return subtractSets(a, subtractSets(a, b));
}

/** Paths of the fields in the set, as messages print them: `.spec.containers[name="web"].image`. */
export function printPaths(set: FieldSet, prefix = ''): string[] {
  return Object.entries(set).flatMap(([element, below]) => {
    if (element === SELF) return prefix === '' ? [] : [prefix];
    const path = `${prefix}${printElement(element)}`;
    return isEmptySet(below) ? [path] : printPaths(below, path);
  });
}

function printElement(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('v:')) return `[=${rest}]`;
  const keys: unknown = JSON.parse(rest);
  return `[${Object.entries(isObject(keys) ? keys : {})
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(',')}]`;
}

/** The fields at which two values differ, among those in `set`. */
export function differingFields(
  set: FieldSet,
  a: Json | undefined,
  b: Json | undefined,
  schema: FieldSchema,
): FieldSet {
  const left = new Map(
    (childrenOf(a, schema) ?? []).map(([element, value, childSchema]) => [element, { value, childSchema }]),
  );
  const right = new Map(
    (childrenOf(b, schema) ?? []).map(([element, value, childSchema]) => [element, { value, childSchema }]),
  );
  const result: FieldSet = {};
  for (const [element, below] of Object.entries(set)) {
    if (element === SELF) continue;
    const one = left.get(element);
    const two = right.get(element);
    if (isEmptySet(below)) {
      if (!equalJson(one?.value, two?.value)) result[element] = {};
      continue;
    }
    const childSchema = one?.childSchema ?? two?.childSchema;
    if (childSchema === undefined) continue;
    const differing = differingFields(below, one?.value, two?.value, childSchema);
    if (!isEmptySet(differing)) result[element] = differing;
  }
  return result;
}

/** Removes the fields of `set` from `value`, in place; emptied list items and members marked themselves go entirely. */
export function removeFields(value: Json | undefined, set: FieldSet, schema: FieldSchema): void {
  if (isObject(value)) {
    for (const [element, below] of Object.entries(set)) {
      if (!element.startsWith('f:')) continue;
      const key = element.slice(2);
      if (isEmptySet(below)) delete value[key];
      else {
        removeFields(value[key], below, schema.member(key));
        if (below[SELF] !== undefined && isHollow(value[key])) delete value[key];
      }
    }
    return;
  }
  if (!Array.isArray(value)) return;
  const keys = schema.listKeys(value);
  if (keys === undefined) return;
  for (let index = value.length - 1; index >= 0; index--) {
    const item = value[index] ?? null;
    const element = keys === 'set' ? `v:${JSON.stringify(item)}` : itemElement(item, keys);
    const below = element === undefined ? undefined : set[element];
    if (below === undefined) continue;
    if (isEmptySet(below) || below[SELF] !== undefined) value.splice(index, 1);
    else removeFields(item, below, schema.item());
  }
}

function isHollow(value: Json | undefined): boolean {
  return (isObject(value) && Object.keys(value).length === 0) || (Array.isArray(value) && value.length === 0);
}

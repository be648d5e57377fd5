/**
 * Sets of fields in the form managedFields stores them (FieldsV1), and the operations ownership needs.
 * A node without children is a field in the set; the child `.` says that a node with children is in the set itself.
 * Source of the form: structured-merge-diff fieldpath/serialize.go.
 */

import { ascending } from '../../lib/ascending.ts';
import { type FieldSchema, itemElement } from './field-schema.ts';
import { equalJson, isObject, type Json } from './json.ts';

/** Elements are `f:NAME`, `k:{KEYS}` (item of a keyed list), `v:VALUE` (item of a set) and `.`. */
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
  const keys = schema.listKeys();
  if (keys === undefined) return undefined;
  if (keys === 'set') return value.map((item) => [`v:${JSON.stringify(item)}`, item, schema.item()]);
  const children: [string, Json, FieldSchema][] = [];
  for (const item of value) {
    const element = itemElement(item, keys, schema);
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

/** Every field of a new value, its maps and lists included. */
function addedFields(value: Json, schema: FieldSchema): FieldSet {
  if (typeof value !== 'object' || value === null) return {};
  const children = childrenOf(value, schema);
  if (children === undefined) return {};
  const set: FieldSet = { [SELF]: {} };
  for (const [child, childValue, childSchema] of children) set[child] = addedFields(childValue, childSchema);
  return set;
}

/** What an update did: fields it added or gave another value, and fields it removed. */
export interface FieldChanges {
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** Compares two states of an object field by field. Parts that are equal cost one comparison. */
export function compareFields(before: Json | undefined, after: Json, schema: FieldSchema): FieldChanges {
  const changed: FieldSet = {};
  const removed: FieldSet = {};
  const child = (element: string, old: Json | undefined, value: Json | undefined, childSchema: FieldSchema): void => {
    if (value === undefined) {
      if (old !== undefined) removed[element] = addedFields(old, childSchema);
    } else if (old === undefined) changed[element] = addedFields(value, childSchema);
    else if (!equalJson(old, value)) {
      const wasNested = childrenOf(old, childSchema) !== undefined;
      const isNested = childrenOf(value, childSchema) !== undefined;
      if (!isNested) changed[element] = {};
      if (!isNested && !wasNested) return;
      const below = compareFields(old, value, childSchema);
      if (isNested && !isEmptySet(below.changed)) changed[element] = below.changed;
      if (wasNested && !isEmptySet(below.removed)) removed[element] = below.removed;
    }
  };
  if (isObject(after) && (before === undefined || isObject(before)) && !schema.atomicMap) {
    for (const key in after) child(`f:${key}`, before?.[key], after[key], schema.member(key));
    for (const key in before)
      if (after[key] === undefined) child(`f:${key}`, before[key], undefined, schema.member(key));
    return { changed, removed };
  }
  const known = new Map(
    (childrenOf(before, schema) ?? []).map(([element, value, childSchema]) => [element, { value, childSchema }]),
  );
  for (const [element, value, childSchema] of childrenOf(after, schema) ?? []) {
    child(element, known.get(element)?.value, value, childSchema);
    known.delete(element);
  }
  for (const [element, { value, childSchema }] of known) child(element, value, undefined, childSchema);
  return { changed, removed };
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
  const elements = Object.entries(set)
    .filter(([element]) => element !== SELF)
    .sort(([a], [b]) => ascending(a, b));
  const pathOf = (element: string): string => `${prefix}${printElement(element)}`;
  // Of each level first what is in the set itself, then what is below.
  const members = elements.filter(([, below]) => isEmptySet(below) || below[SELF] !== undefined);
  const below = elements.filter(([, nested]) => !isEmptySet(nested));
  return [
    ...members.map(([element]) => pathOf(element)),
    ...below.flatMap(([element, nested]) => printPaths(nested, pathOf(element))),
  ];
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

/** An empty map or list that is merged into what is there leaves it as it is. */
function addsNothing(
  present: { readonly value: Json; readonly childSchema: FieldSchema } | undefined,
  applied: Json | undefined,
): boolean {
  const isEmpty = typeof applied === 'object' && applied !== null && Object.keys(applied).length === 0;
  return isEmpty && present !== undefined && childrenOf(present.value, present.childSchema) !== undefined;
}

/** The fields at which `b`, merged into `a`, would change it, among those in `set`. */
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
      if (!equalJson(one?.value, two?.value) && !addsNothing(one, two?.value)) result[element] = {};
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
  const keys = schema.listKeys();
  if (keys === undefined) return;
  for (let index = value.length - 1; index >= 0; index--) {
    const item = value[index] ?? null;
    const element = keys === 'set' ? `v:${JSON.stringify(item)}` : itemElement(item, keys, schema);
    const below = element === undefined ? undefined : set[element];
    if (below === undefined) continue;
    if (isEmptySet(below) || below[SELF] !== undefined) value.splice(index, 1);
    else removeFields(item, below, schema.item());
  }
}

function isHollow(value: Json | undefined): boolean {
  return (isObject(value) && Object.keys(value).length === 0) || (Array.isArray(value) && value.length === 0);
}

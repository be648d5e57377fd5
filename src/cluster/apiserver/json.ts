/** JSON values as the API server stores them: safe import from the outside, copies, freezing, equality, guarded reading. */

/** A member that is undefined counts as absent everywhere. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json | undefined;
}

/** Neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Copies any value into plain JSON, as a trip over the wire would: absent members are dropped, dates become text, and
 * nothing stays shared with the caller. Values JSON has no form for (functions, symbols, NaN) become null or are dropped.
 */
export function toJson(value: unknown): Json {
  if (value === null) return null;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'object':
      break;
    default:
      return null;
  }
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Date) return value.toISOString();
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue;
    setMember(copy, key, toJson(member));
  }
  return copy;
}

/** A deep, mutable copy of stored data. */
export function cloneJson<T extends Json | undefined>(value: T): T;
export function cloneJson(value: Json | undefined): Json | undefined {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => cloneJson(item));
  const copy: JsonObject = {};
  for (const key in value) setMember(copy, key, cloneJson(value[key]));
  return copy;
}

/** Sets a member of any name: one called `__proto__` stays data. */
export function setMember(object: JsonObject, key: string, value: Json | undefined): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Freezes `value` and everything below it; parts already frozen are taken to be frozen all the way down. */
export function deepFreeze<T extends Json | undefined>(value: T): T;
export function deepFreeze(value: Json | undefined): Json | undefined {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) deepFreeze(item);
  else for (const key in value) deepFreeze(value[key]);
  return value;
}

/** Deep equality; the order of an object's members does not count, and absent equals undefined. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equalJson(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  for (const key in a) if (a[key] !== undefined && !equalJson(a[key], b[key])) return false;
  return countMembers(a) === countMembers(b);
}

/** Of an object; none that it has from its prototype, which any name may mean there, `constructor` for one. */
function countMembers(object: JsonObject): number {
  let count = 0;
  for (const key in object) if (object[key] !== undefined) count++;
  return count;
}

/**
 * `next` with every part that equals its counterpart in `base` replaced by it; `base` itself when all is equal. Changes `next` in
 * place where it is not frozen. Versions of an object then share what a write left alone: less memory, and equal parts are identical.
 */
export function shareJson<T extends Json | undefined>(base: T | undefined, next: T): T;
export function shareJson(base: Json | undefined, next: Json | undefined): Json | undefined {
  if (next === base || typeof next !== 'object' || next === null || typeof base !== 'object' || base === null)
    return next;
  if (Object.isFrozen(next)) return equalJson(base, next) ? base : next;
  if (Array.isArray(next)) {
    if (!Array.isArray(base)) return next;
    let isSame = next.length === base.length;
    next.forEach((item, index) => {
      const shared = shareJson(base[index], item) ?? null;
      if (shared !== base[index]) isSame = false;
      if (shared !== item) next[index] = shared;
    });
    return isSame ? base : next;
  }
  if (Array.isArray(base)) return next;
  let isSame = true;
  for (const key in next) {
    const shared = shareJson(base[key], next[key]);
    if (shared !== base[key]) isSame = false;
    if (shared !== next[key]) next[key] = shared;
  }
  return isSame && countMembers(base) === countMembers(next) ? base : next;
}

/** The value at `path`, or undefined where any step is missing or not an object. */
export function valueAt(root: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current: Json | undefined = root;
  for (const step of path) {
    if (!isObject(current)) return undefined;
    current = current[step];
  }
  return current;
}

/** As `valueAt`, undefined where the value is no object; so the others for their types. */
export function objectAt(root: Json | undefined, ...path: readonly string[]): JsonObject | undefined {
  const value = valueAt(root, ...path);
  return isObject(value) ? value : undefined;
}

export function stringAt(root: Json | undefined, ...path: readonly string[]): string | undefined {
  const value = valueAt(root, ...path);
  return typeof value === 'string' ? value : undefined;
}

export function numberAt(root: Json | undefined, ...path: readonly string[]): number | undefined {
  const value = valueAt(root, ...path);
  return typeof value === 'number' ? value : undefined;
}

/** The objects of the list at `path`; empty where there is no list, and members that are not objects are left out. */
export function objectsAt(root: Json | undefined, ...path: readonly string[]): JsonObject[] {
  const value = valueAt(root, ...path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The texts of the list at `path`. */
export function stringsAt(root: Json | undefined, ...path: readonly string[]): string[] {
  const value = valueAt(root, ...path);
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The text members of the object at `path`, e.g. labels. */
export function stringMapAt(root: Json | undefined, ...path: readonly string[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(objectAt(root, ...path) ?? {}))
    if (typeof value === 'string') texts[key] = value;
  return texts;
}

/** A scalar as text; lists and objects as JSON, absent values as nothing. */
export function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Sets `key` when it is absent or null, as defaulting does. */
export function setDefault(target: JsonObject, key: string, value: Json): void {
  if (target[key] === undefined || target[key] === null) target[key] = value;
}

/** The object member `key`, made empty when absent. */
export function ensureObject(target: JsonObject, key: string): JsonObject {
  const present = target[key];
  if (isObject(present)) return present;
  const made: JsonObject = {};
  target[key] = made;
  return made;
}

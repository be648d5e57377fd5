/** JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386). */

import { cloneJson, equalJson, isObject, type Json, type JsonObject, setMember } from './json.ts';
import { badRequest, failure, tooLarge } from './status-error.ts';

/** RFC 7386: null removes, objects merge, anything else replaces. Returns a new value. */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return cloneJson(patch);
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) delete result[key];
    else setMember(result, key, applyMergePatch(result[key], value));
  }
  return result;
}

/** Source: apiserver pkg/endpoints/handlers/patch.go `maxJSONPatchOperations`. */
const MAX_OPERATIONS = 10_000;

/** The real server does not say which operation failed, nor why. */
function refusal(): Error {
  return failure({
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  });
}

function parsePointer(path: string): string[] {
  if (path === '') return [];
  if (!path.startsWith('/')) throw refusal();
  return path
    .slice(1)
    .split('/')
    .map((token) => token.replace(/~1/g, '/').replace(/~0/g, '~'));
}

function listIndex(list: readonly Json[], token: string, forAdd: boolean): number | undefined {
  if (forAdd && token === '-') return list.length;
  if (!/^(0|[1-9]\d*)$/.test(token)) return undefined;
  const index = Number(token);
  return index < list.length || (forAdd && index === list.length) ? index : undefined;
}

function read(root: Json, tokens: readonly string[]): Json | undefined {
  let current: Json | undefined = root;
  for (const token of tokens) {
    if (Array.isArray(current)) {
      const index = listIndex(current, token, false);
      current = index === undefined ? undefined : current[index];
    } else current = isObject(current) && Object.hasOwn(current, token) ? current[token] : undefined;
  }
  return current;
}

/**
 * Applies the operations in order to a copy of `target`. Throws 422 when a path does not exist or a test fails
 * (nothing is applied then), 400 when the patch itself is malformed and 413 when it has too many operations.
 */
export function applyJsonPatch(target: Json, patch: unknown): Json {
  if (!Array.isArray(patch)) throw badRequest('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  if (patch.length > MAX_OPERATIONS) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`);
  }
  let root = cloneJson(target);

  const write = (tokens: readonly string[], value: Json, mode: 'add' | 'replace'): void => {
    const last = tokens.at(-1);
    if (last === undefined) {
      root = value;
      return;
    }
    const parent = read(root, tokens.slice(0, -1));
    if (Array.isArray(parent)) {
      const index = listIndex(parent, last, mode === 'add');
      if (index === undefined) throw refusal();
      parent.splice(index, mode === 'add' ? 0 : 1, value);
    } else if (isObject(parent)) {
      if (mode === 'replace' && !Object.hasOwn(parent, last)) throw refusal();
      if (last === '__proto__') throw refusal();
      parent[last] = value;
    } else throw refusal();
  };
  const remove = (tokens: readonly string[]): void => {
    const parent = read(root, tokens.slice(0, -1));
    const last = tokens.at(-1) ?? '';
    const index = Array.isArray(parent) ? listIndex(parent, last, false) : undefined;
    if (Array.isArray(parent) && index !== undefined) parent.splice(index, 1);
    else if (isObject(parent) && Object.hasOwn(parent, last)) delete parent[last];
    else throw refusal();
  };

  for (const operation of patch) {
    if (!isObject(operation) || typeof operation['path'] !== 'string') throw refusal();
    const path = operation['path'];
    const tokens = parsePointer(path);
    const value = cloneJson(operation['value'] ?? null);
    switch (operation['op']) {
      case 'add':
      case 'replace':
        write(tokens, value, operation['op']);
        break;
      case 'remove':
        remove(tokens);
        break;
      case 'test':
        if (!equalJson(read(root, tokens) ?? null, value)) throw refusal();
        break;
      case 'move':
      case 'copy': {
        const from = typeof operation['from'] === 'string' ? operation['from'] : '';
        const source = read(root, parsePointer(from));
        if (source === undefined) throw refusal();
        const moved = cloneJson(source);
        if (operation['op'] === 'move') remove(parsePointer(from));
        write(tokens, moved, 'add');
        break;
      }
      default:
        throw refusal();
    }
  }
  return root;
}

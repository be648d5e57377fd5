/**
 * Strategic merge patch: lists of named things merge item by item, as the types' patch tags say.
 * Source of the rules: apimachinery pkg/util/strategicpatch and the patchMergeKey tags of k8s.io/api.
 */
import { cloneJson, equalJson, isObject, type Json, type JsonObject } from './json.ts';
import { applyMergePatch } from './patch-json.ts';
import type { FieldType, StructField, StructType } from './schema/struct-types.ts';
import { badRequest } from './status-error.ts';

/** Objects of which a patch keeps only the members named in `$retainKeys`. */
const DIRECTIVE_PREFIXES = ['$setElementOrder/', '$deleteFromPrimitiveList/'];

/** Applies a strategic merge patch to `original` (not changed), an object of that struct. */
export function applyStrategicPatch(
  original: JsonObject,
  patch: JsonObject,
  struct: StructType | undefined,
): JsonObject {
  const result = mergeObject(original, patch, struct);
  delete result['$retainKeys'];
  return result;
}

/** The struct of a member, or of the items of a list or map. */
function structIn(type: FieldType | undefined): StructType | undefined {
  switch (type?.kind) {
    case 'struct':
      return type.struct;
    case 'list':
      return structIn(type.item);
    case 'map':
      return structIn(type.value);
    default:
      return undefined;
  }
}

/** `$setElementOrder` orders a list whether or not the patch changes it. */
function mergeObject(original: JsonObject, patch: JsonObject, struct: StructType | undefined): JsonObject {
  const directive = patch['$patch'];
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge')
    throw badRequest(`unrecognized patch directive ${JSON.stringify(directive)}: expected replace, delete or merge`);

  const retain = patch['$retainKeys'];
  const result: JsonObject = { ...original };
  if (Array.isArray(retain)) for (const key of Object.keys(original)) if (!retain.includes(key)) delete result[key];

  for (const key in patch) {
    const value = patch[key];
    if (key === '$patch' || key === '$retainKeys' || key.startsWith('$setElementOrder/')) continue;
    if (key.startsWith('$deleteFromPrimitiveList/')) {
      const field = key.slice('$deleteFromPrimitiveList/'.length);
      const present = result[field];
      if (Array.isArray(present) && Array.isArray(value))
        result[field] = present.filter((item) => !value.some((gone) => equalJson(gone, item)));
      continue;
    }
    if (value === null || value === undefined) {
      delete result[key];
      continue;
    }
    const before = result[key];
    const field = struct?.fields.get(key);
    if (isObject(value))
      result[key] = mergeObject(
        isObject(before) && field?.isReplaced !== true ? before : {},
        value,
        structIn(field?.type),
      );
    else if (Array.isArray(value))
      result[key] = mergeList(field, Array.isArray(before) ? before : [], value, patch[`$setElementOrder/${key}`]);
    else result[key] = value;
  }
  // An order directive without a list of its own still reorders what is there.
  for (const key in patch) {
    if (!key.startsWith('$setElementOrder/')) continue;
    const field = key.slice('$setElementOrder/'.length);
    const present = result[field];
    if (patch[field] === undefined && Array.isArray(present))
      result[field] = mergeList(struct?.fields.get(field), present, [], patch[key]);
  }
  return result;
}

/** An item that the patch deletes and names again is there again: the patch is read in its order. */
function mergeList(field: StructField | undefined, original: Json[], patch: Json[], order: Json | undefined): Json[] {
  const key = field?.mergeKey;
  if (key === '') {
    const merged = [...original, ...patch.filter((item) => !original.some((present) => equalJson(present, item)))];
    return arrange(merged, patch, original, Array.isArray(order) ? order : undefined, (item) => JSON.stringify(item));
  }
  const patchItems = patch.filter(isObject);
  const originalItems = original.filter(isObject);
  const struct = structIn(field?.type);
  if (key === undefined || patchItems.length !== patch.length) return cloneJson(patch);
  if (patchItems.some((item) => item['$patch'] === 'replace')) {
    return patchItems.filter((item) => item['$patch'] !== 'replace').map(withoutDirectives);
  }
  const merged: JsonObject[] = [...originalItems];
  const given: JsonObject[] = [];
  for (const item of patchItems) {
    const id = item[key];
    if (id === undefined) throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    if (item['$patch'] === 'delete') {
      for (let index = merged.length - 1; index >= 0; index--) if (merged[index]?.[key] === id) merged.splice(index, 1);
      continue;
    }
    given.push(item);
    const index = merged.findIndex((present) => present[key] === id);
    const present = merged[index];
    if (present === undefined) merged.push(mergeObject({}, item, struct));
    else merged[index] = mergeObject(present, item, struct);
  }
  const wantedOrder = Array.isArray(order) ? order.filter(isObject) : undefined;
  return arrange(merged, given, originalItems, wantedOrder, (item) => (isObject(item) ? idText(item[key]) : ''));
}

/**
 * Order of a merged list: items the patch names in the patch's order (or that of `$setElementOrder`), the others in the
 * server's order, woven together by the server's order; new items come before the first server item they meet.
 */
function arrange(
  merged: Json[],
  patch: readonly Json[],
  original: readonly Json[],
  order: readonly Json[] | undefined,
  idOf: (item: Json) => string,
): Json[] {
  const ranks = rankOf((order ?? patch).map(idOf));
  const serverRanks = rankOf(original.map(idOf));
  const ranked = merged.map((item) => ({ item, id: idOf(item) }));
  const named = ranked
    .filter(({ id }) => ranks.has(id))
    .sort((a, b) => (ranks.get(a.id) ?? 0) - (ranks.get(b.id) ?? 0));
  const rest = ranked.filter(({ id }) => !ranks.has(id));
  const woven: Json[] = [];
  let left = 0;
  let right = 0;
  while (left < rest.length || right < named.length) {
    const serverItem = rest[left];
    const patchItem = named[right];
    const patchRank = patchItem === undefined ? undefined : serverRanks.get(patchItem.id);
    const serverFirst =
      patchItem === undefined ||
      (serverItem !== undefined && patchRank !== undefined && (serverRanks.get(serverItem.id) ?? -1) < patchRank);
    if (serverFirst && serverItem !== undefined) {
      woven.push(serverItem.item);
      left++;
    } else if (patchItem !== undefined) {
      woven.push(patchItem.item);
      right++;
    }
  }
  return woven;
}

/** As JSON, so that `1` and `"1"` are two; names, the usual keys, need no escapes to be told apart. */
function idText(id: Json | undefined): string {
  return typeof id === 'string' ? `"${id}` : String(JSON.stringify(id));
}

/** The first place of each. */
function rankOf(ids: readonly string[]): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  ids.forEach((id, index) => {
    if (!ranks.has(id)) ranks.set(id, index);
  });
  return ranks;
}

function withoutDirectives(value: JsonObject): JsonObject {
  const plain: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (key === '$patch' || key === '$retainKeys' || DIRECTIVE_PREFIXES.some((prefix) => key.startsWith(prefix)))
      continue;
    if (member === undefined) continue;
    plain[key] = applyMergePatch(undefined, member);
  }
  return plain;
}

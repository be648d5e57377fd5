/** Pruning of unknown fields and filling in of defaults, by a structural schema. Source: apiextensions-apiserver pkg/apiserver/schema/{pruning,defaulting}. */
import { cloneJson, isObject, type Json, type JsonObject, objectAt } from '../json.ts';

/** Members every object may have at its root. */
const ROOT_MEMBERS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Removes, in place, what the schema does not name. */
export function pruneBySchema(value: Json | undefined, schema: JsonObject | undefined, isRoot = true): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) pruneBySchema(item, objectAt(schema, 'items'), false);
    return;
  }
  if (!isObject(value)) return;
  const properties = objectAt(schema, 'properties') ?? {};
  const additional = objectAt(schema, 'additionalProperties');
  const keepsUnknown =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema['additionalProperties'] === true;
  const embedded = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  for (const key of Object.keys(value)) {
    if (embedded && ROOT_MEMBERS.has(key)) continue;
    const member = objectAt(properties, key) ?? additional;
    if (member !== undefined) pruneBySchema(value[key], member, false);
    else if (!keepsUnknown) delete value[key];
  }
}

/** Fills in defaults, in place, and drops nulls that a default replaces. */
export function defaultBySchema(value: Json | undefined, schema: JsonObject | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) defaultBySchema(item, objectAt(schema, 'items'));
    return;
  }
  if (!isObject(value)) return;
  const properties = objectAt(schema, 'properties') ?? {};
  for (const [key, member] of Object.entries(properties)) {
    if (!isObject(member)) continue;
    const fallback = member['default'];
    if (fallback !== undefined && (value[key] === undefined || (value[key] === null && member['nullable'] !== true)))
      value[key] = cloneJson(fallback);
    else if (value[key] === null && member['nullable'] !== true) delete value[key];
    defaultBySchema(value[key], member);
  }
  const additional = objectAt(schema, 'additionalProperties');
  if (additional === undefined) return;
  for (const [key, member] of Object.entries(value))
    if (objectAt(properties, key) === undefined) defaultBySchema(member, additional);
}

/** Pruning of unknown fields and filling in of defaults, by a structural schema. Source: apiextensions-apiserver pkg/apiserver/schema/{pruning,defaulting}. */
import { cloneJson, isObject, type Json, type JsonObject, objectAt } from '../json.ts';

/** Members every object may have at its root. */
const ROOT_MEMBERS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Removes, in place, what the schema does not name. */
export function pruneBySchema(value: Json | undefined, schema: JsonObject | undefined): void {
  visitUnknown(value, schema, '', (object, key) => delete object[key]);
}

/** What {@link pruneBySchema} would remove: `spec.a`, `spec.list[0].b`. */
export function unknownPaths(value: Json | undefined, schema: JsonObject | undefined): string[] {
  const paths: string[] = [];
  visitUnknown(value, schema, '', (_, __, path) => paths.push(path));
  return paths;
}

function visitUnknown(
  value: Json | undefined,
  schema: JsonObject | undefined,
  path: string,
  visit: (object: JsonObject, key: string, path: string) => void,
): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      visitUnknown(item, objectAt(schema, 'items'), `${path}[${index}]`, visit);
    return;
  }
  if (!isObject(value)) return;
  const properties = objectAt(schema, 'properties') ?? {};
  const additional = objectAt(schema, 'additionalProperties');
  const keepsUnknown =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema['additionalProperties'] === true;
  const embedded = path === '' || schema['x-kubernetes-embedded-resource'] === true;
  for (const key of Object.keys(value)) {
    if (embedded && ROOT_MEMBERS.has(key)) continue;
    const member = objectAt(properties, key) ?? additional;
    const place = path === '' ? key : `${path}.${key}`;
    if (member !== undefined) visitUnknown(value[key], member, place, visit);
    else if (!keepsUnknown) visit(value, key, place);
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

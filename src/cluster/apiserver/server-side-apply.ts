/**
 * Server-side apply: the manager's configuration is merged in, what it no longer names is removed, and fields of others
 * are conflicts unless forced. Source: KEP-555, structured-merge-diff merge/update.go, apimachinery managedfields.
 */

import type { Patch } from '../../api/kube-api.ts';
import { apiVersionOf } from '../../api/resources.ts';
import type { Clock } from '../../lib/clock.ts';
import { configurationProblem } from './applied-configuration.ts';
import { type FieldError, requiredField } from './field-errors.ts';
import { type FieldSchema, itemElement } from './field-schema.ts';
import {
  differingFields,
  type FieldSet,
  fieldsOf,
  intersectSets,
  isEmptySet,
  printPaths,
  removeFields,
  subtractSets,
  unionSets,
} from './field-set.ts';
import { cloneJson, equalJson, isObject, type Json, type JsonObject, objectAt, textOf, toJson } from './json.ts';
import { type FieldOwner, isOwner, readOwners, schemaOf, withoutUnowned, writeOwners } from './managed-fields.ts';
import { toTime } from './names.ts';
import type { Target } from './operations.ts';
import type { Reader } from './reader.ts';
import type { WriteContext } from './request.ts';
import { convertStruct } from './schema/decode-struct.ts';
import type { ApiObject, ServedType } from './served-type.ts';
import { badRequest, failure, invalid, notFound } from './status-error.ts';
import { subresourceView } from './subresources.ts';
import type { Writer } from './writer.ts';

/** What applying needs of the server. */
export interface ApplyRules {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly clock: Clock;
}

/**
 * Rejects with 409 naming each field of another manager unless `force` takes them over, and with 400 for a
 * configuration that is not of the type or brings managedFields of its own. Applying the same again writes nothing.
 */
export async function applyObject(
  { reader, writer, clock }: ApplyRules,
  target: Target,
  patch: Patch & { type: 'apply' },
  context: WriteContext,
): Promise<{ object: JsonObject; created: boolean }> {
  const { type, namespace, name, subresource } = target;
  const applied = checkedConfiguration(type, name, toJson(patch.body));
  const merge = (current: ApiObject | undefined): ApiObject => {
    const merged = mergeConfiguration({
      type,
      current,
      applied,
      context,
      force: patch.force ?? false,
      subresource,
      now: toTime(clock.now()),
    });
    checkConverted(type, applied, merged, current);
    return merged;
  };
  if (reader.find(type, namespace, name) === undefined) {
    if (subresource !== '') throw notFound(type, name);
    return { object: await writer.create(type, namespace, merge(undefined), context, 'Apply'), created: true };
  }
  const view = subresource === '' ? undefined : subresourceView(type, subresource);
  const written = await writer.update({
    type,
    namespace,
    name,
    subresource,
    context,
    operation: 'Apply',
    build: merge,
  });
  return { object: view === undefined ? written : view.read(written), created: false };
}

export function requiredManager(): FieldError {
  return requiredField('fieldManager', 'is required for apply patch');
}

/** The refusal of an apply that names no manager. */
export function missingFieldManager(): Error {
  return invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [requiredManager()]);
}

function checkedConfiguration(type: ServedType, name: string, body: Json): ApiObject {
  if (!isObject(body)) throw badRequest('error decoding YAML: the configuration must be an object');
  const metadata = isObject(body['metadata']) ? body['metadata'] : {};
  if (metadata['managedFields'] !== undefined && metadata['managedFields'] !== null)
    throw badRequest('metadata.managedFields must be nil');
  if (body['apiVersion'] !== apiVersionOf(type) || body['kind'] !== type.kind) {
    throw badRequest(
      `invalid object type: ${textOf(body['apiVersion'])}, Kind=${textOf(body['kind'])}; expected ${apiVersionOf(type)}, Kind=${type.kind}`,
    );
  }
  checkForm(type, body);
  if (metadata['name'] !== undefined && metadata['name'] !== name)
    throw badRequest(
      `the name of the object (${textOf(metadata['name'])}) does not match the name on the URL (${name})`,
    );
  return { ...body, apiVersion: apiVersionOf(type), kind: type.kind, metadata: { ...metadata, name } };
}

/** Errors of the merge have no status of their own. Source: apimachinery pkg/util/managedfields/internal/structuredmerge.go. */
function checkForm(type: ServedType, body: JsonObject): void {
  const { apiVersion: _a, kind: _k, ...content } = body;
  const problem = configurationProblem(content, schemaOf(type));
  if (problem !== undefined) throw mergeFailure(type, body, 'failed to create typed patch object', `: ${problem}`);
}

/** What the schema lets through can still be no amount, time or whole number. */
function checkConverted(
  type: ServedType,
  applied: JsonObject,
  merged: JsonObject,
  current: JsonObject | undefined,
): void {
  if (type.struct === undefined) return;
  const { problem } = convertStruct(merged, type.struct, current);
  if (problem === undefined) return;
  const why = ` to proper version: unable to convert unstructured object to ${goKindOf(type)}: ${problem}`;
  throw mergeFailure(type, applied, 'failed to convert new object', why);
}

function goKindOf(type: ServedType): string {
  return `${type.group === '' ? `/${type.version}` : apiVersionOf(type)}, Kind=${type.kind}`;
}

function mergeFailure(type: ServedType, body: JsonObject, what: string, problem: string): Error {
  const { namespace, name } = objectAt(body, 'metadata') ?? {};
  const message = `${what} (${textOf(namespace)}/${textOf(name)}; ${goKindOf(type)})${problem}`;
  return failure({ code: 500, reason: '', message });
}

/** `current` undefined: the configuration makes the object. */
interface MergeRequest {
  readonly type: ServedType;
  readonly current: ApiObject | undefined;
  readonly applied: ApiObject;
  readonly context: WriteContext;
  readonly force: boolean;
  readonly subresource: string;
  readonly now: string;
}

function mergeConfiguration({ type, current, applied, context, force, subresource, now }: MergeRequest): ApiObject {
  const schema = schemaOf(type);
  const manager = context.fieldManager;
  const wanted = withoutUnowned(fieldsOf(applied, schema));
  const owners = readOwners(current);
  const mine = owners.find((owner) => isOwner(owner, manager, 'Apply', subresource));
  const others = owners.filter((owner) => owner !== mine);

  const differing = current === undefined ? {} : differingFields(wanted, current, applied, schema);
  const conflicts = others
    .map((owner) => ({ owner, fields: intersectSets(owner.fields, differing) }))
    .filter(({ fields }) => !isEmptySet(fields));
  if (conflicts.length > 0 && !force) throw applyConflict(conflicts);

  const lost = conflicts.reduce<FieldSet>((all, { fields }) => unionSets(all, fields), {});
  const remaining = others.map((owner) => ({ ...owner, fields: subtractSets(owner.fields, lost) }));
  const merged = current === undefined ? cloneJson<ApiObject>(applied) : mergeObjects(current, applied, schema);
  const owned = remaining.reduce<FieldSet>((all, { fields }) => unionSets(all, fields), {});
  removeFields(merged, subtractSets(subtractSets(mine?.fields ?? {}, wanted), owned), schema);

  writeOwners(merged, [
    ...remaining,
    { manager, operation: 'Apply', apiVersion: apiVersionOf(type), subresource, time: now, fields: wanted },
  ]);
  return merged;
}

function mergeObjects(current: ApiObject, applied: ApiObject, schema: FieldSchema): ApiObject {
  const merged = mergeValues(current, applied, schema);
  const metadata = isObject(merged) && isObject(merged['metadata']) ? merged['metadata'] : {};
  return { ...(isObject(merged) ? merged : {}), apiVersion: current.apiVersion, kind: current.kind, metadata };
}

/** What the configuration does not name stays; a null in it takes the field away. */
function mergeValues(current: Json | undefined, applied: Json, schema: FieldSchema): Json {
  if (isObject(applied)) {
    if (!isObject(current) || schema.atomicMap) return cloneJson(applied);
    const merged: JsonObject = cloneJson(current);
    for (const [key, value] of Object.entries(applied)) {
      if (value === null || value === undefined) delete merged[key];
      else merged[key] = mergeValues(current[key], value, schema.member(key));
    }
    return merged;
  }
  if (!Array.isArray(applied) || !Array.isArray(current)) return cloneJson(applied);
  const keys = schema.listKeys();
  if (keys === undefined) return cloneJson(applied);
  if (keys === 'set')
    return [...current, ...applied.filter((item) => !current.some((present) => equalJson(present, item)))];
  const merged = cloneJson(current);
  for (const item of applied) {
    const element = itemElement(item, keys, schema);
    const index = merged.findIndex((present) => itemElement(present, keys, schema) === element);
    if (index === -1) merged.push(cloneJson(item));
    else merged[index] = mergeValues(merged[index], item, schema.item());
  }
  return merged;
}

function describeOwner({ manager, operation, apiVersion, subresource }: FieldOwner): string {
  const name =
    subresource === ''
      ? JSON.stringify(manager)
      : `${JSON.stringify(manager)} with subresource ${JSON.stringify(subresource)}`;
  return operation === 'Apply' ? name : `${name} using ${apiVersion}`;
}

function applyConflict(conflicts: readonly { readonly owner: FieldOwner; readonly fields: FieldSet }[]): Error {
  const each = conflicts.flatMap(({ owner, fields }) => printPaths(fields).map((path) => ({ owner, path })));
  const causes = each.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describeOwner(owner)}`,
    field: path,
  }));
  const [first] = each;
  const message =
    each.length === 1 && first !== undefined
      ? `Apply failed with 1 conflict: conflict with ${describeOwner(first.owner)}: ${first.path}`
      : `Apply failed with ${each.length} conflicts: ${conflicts.map(({ owner, fields }) => [`conflicts with ${describeOwner(owner)}:`, ...printPaths(fields).map((path) => `- ${path}`)].join('\n')).join('\n')}`;
  return failure({ code: 409, reason: 'Conflict', message, details: { causes } });
}

/** Ownership of fields (metadata.managedFields): who last set what. Source: KEP-555, apimachinery pkg/util/managedfields. */

import { apiVersionOf } from '../../api/resources.ts';
import { ascending } from '../../lib/ascending.ts';
import type { Clock } from '../../lib/clock.ts';
import { type FieldSchema, METADATA_ONLY_SCHEMA } from './field-schema.ts';
import { compareFields, type FieldSet, isEmptySet, subtractSets, unionSets } from './field-set.ts';
import { deepFreeze, equalJson, isObject, type JsonObject, objectAt, stringAt } from './json.ts';
import { toTime } from './names.ts';
import type { ApiObject, ServedType } from './served-type.ts';

export interface ManagedFields {
  /** Brings `next.metadata.managedFields` up to date with what `manager` changed from `old`. */
  recordUpdate(
    type: ServedType,
    old: ApiObject | undefined,
    next: ApiObject,
    manager: string,
    subresource: string,
  ): void;
}

/** One entry of metadata.managedFields. The three of manager, operation and subresource tell owners apart. */
export interface FieldOwner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string;
  readonly fields: FieldSet;
}

/** How the type's fields merge. */
export function schemaOf(type: ServedType): FieldSchema {
  return type.fieldSchema ?? METADATA_ONLY_SCHEMA;
}

/** What nobody owns: identity and what the server itself keeps. */
const UNOWNED: FieldSet = {
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': {
    '.': {},
    'f:name': {},
    'f:namespace': {},
    'f:creationTimestamp': {},
    'f:selfLink': {},
    'f:uid': {},
    'f:clusterName': {},
    'f:generation': {},
    'f:managedFields': {},
    'f:resourceVersion': {},
    'f:deletionTimestamp': {},
    'f:deletionGracePeriodSeconds': {},
  },
};

/** @returns what of `fields` can be owned; empty where nothing is left. */
export function withoutUnowned(fields: FieldSet): FieldSet {
  const rest = subtractSets(fields, UNOWNED);
  const { 'f:metadata': metadata, ...others } = rest;
  return metadata === undefined || isEmptySet(metadata) ? others : rest;
}

/** Stored sets are written by this server or checked on their way in: objects all the way down. */
function isFieldSet(value: JsonObject): value is FieldSet {
  return Object.values(value).every(isObject);
}

function asFieldSet(value: JsonObject | undefined): FieldSet {
  return value !== undefined && isFieldSet(value) ? value : {};
}

/** Entries that cannot be read own nothing. */
export function readOwners(object: ApiObject | undefined): FieldOwner[] {
  const entries = object?.metadata.managedFields ?? [];
  return entries.map((entry) => ({
    manager: stringAt(entry, 'manager') ?? '',
    operation: entry['operation'] === 'Apply' ? 'Apply' : 'Update',
    apiVersion: stringAt(entry, 'apiVersion') ?? '',
    subresource: stringAt(entry, 'subresource') ?? '',
    time: stringAt(entry, 'time') ?? '',
    fields: asFieldSet(objectAt(entry, 'fieldsV1')),
  }));
}

/** Entries in the order the real server keeps them: applied ones first, then by time and name; nobody owning nothing. */
export function writeOwners(object: ApiObject, owners: readonly FieldOwner[]): void {
  const kept = owners.filter(({ fields }) => !isEmptySet(fields));
  if (kept.length === 0) {
    delete object.metadata.managedFields;
    return;
  }
  const rank = ({ operation, time, manager, subresource }: FieldOwner): string =>
    `${operation}|${time}|${manager}|${subresource}`;
  object.metadata.managedFields = [...kept]
    .sort((a, b) => ascending(rank(a), rank(b)))
    .map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === '' ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: fields,
      ...(subresource === '' ? {} : { subresource }),
    }));
}

/**
 * Source: apimachinery pkg/util/managedfields/internal/structuredmerge.go, whose manager identifiers hold these three.
 */
export function isOwner(
  owner: FieldOwner,
  manager: string,
  operation: 'Apply' | 'Update',
  subresource: string,
): boolean {
  return owner.manager === manager && owner.operation === operation && owner.subresource === subresource;
}

/** Names of managers are cut to this length. */
const MAX_MANAGER_LENGTH = 128;

/** Distinct sets kept for sharing; more than this are rare, and then only cost memory. */
const MAX_SHARED_SETS = 2_000;

/** @param clock of the entries' times; an entry keeps its time while its owner changes nothing. */
export function createManagedFields(clock: Clock): ManagedFields {
  // Pods of one template, written by one controller, own the same fields: they share one set.
  const sets = new Map<string, FieldSet>();
  const shared = (set: FieldSet): FieldSet => {
    const key = JSON.stringify(set);
    const known = sets.get(key);
    if (known !== undefined) return known;
    if (sets.size >= MAX_SHARED_SETS) sets.clear();
    deepFreeze(set);
    sets.set(key, set);
    return set;
  };

  return {
    recordUpdate(type, old, next, manager, subresource) {
      const given = next.metadata.managedFields;
      // An empty list, or one empty entry, resets ownership.
      if (old && given?.every((entry) => Object.keys(entry).length === 0)) {
        delete next.metadata.managedFields;
        return;
      }
      const schema = schemaOf(type);
      // A new object is compared with an empty one: what every object of the type has is nobody's.
      const before = old ?? type.unset ?? {};
      const changes = compareFields(before, next, schema);
      const changed = withoutUnowned(changes.changed);
      const gone = withoutUnowned(changes.removed);
      // Who may write the object may also edit the list: what is given counts, unless nothing is.
      const hasOwners = given?.some(({ manager }) => manager !== undefined) === true;
      const owners = readOwners(hasOwners ? next : (old ?? next));
      if (isEmptySet(changed) && isEmptySet(gone)) {
        if (old !== undefined && !hasOwners) keepOwners(next, old);
        return;
      }
      const name = manager.slice(0, MAX_MANAGER_LENGTH);
      const touched = unionSets(changed, gone);
      const mine = owners.find((owner) => isOwner(owner, name, 'Update', subresource));
      const others = owners
        .filter((owner) => owner !== mine)
        .map((owner) => ({ ...owner, fields: subtractSets(owner.fields, touched) }));
      const fields = shared(mine === undefined ? changed : unionSets(subtractSets(mine.fields, gone), changed));
      writeOwners(next, [
        ...others,
        {
          manager: name,
          operation: 'Update',
          apiVersion: apiVersionOf(type),
          subresource,
          time: toTime(clock.now()),
          fields,
        },
      ]);
    },
  };
}

/**
 * Where nothing but times of owners would change those stay, too: applying the same again changes nothing.
 * Source: apimachinery pkg/util/managedfields `IgnoreManagedFieldsTimestampsTransformer`.
 */
export function keepTimes(current: ApiObject, next: ApiObject): void {
  const isSame =
    equalJson(withoutOwners(current), withoutOwners(next)) && equalJson(timelessOwners(current), timelessOwners(next));
  if (isSame) keepOwners(next, current);
}

function withoutOwners(object: ApiObject): JsonObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** In an order that does not depend on times. */
function timelessOwners({ metadata }: ApiObject): JsonObject[] {
  const rank = ({ manager, operation, subresource }: JsonObject): string =>
    JSON.stringify([manager, operation, subresource]);
  return (metadata.managedFields ?? [])
    .map((owner): JsonObject => ({ ...owner, time: null }))
    .sort((a, b) => ascending(rank(a), rank(b)));
}

function keepOwners(next: ApiObject, old: ApiObject): void {
  if (old.metadata.managedFields === undefined) delete next.metadata.managedFields;
  else next.metadata.managedFields = old.metadata.managedFields;
}

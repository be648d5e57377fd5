/** Events in their two forms, core/v1 and events.k8s.io/v1, over one storage. Source: kubernetes pkg/apis/events/v1/conversion.go. */
import { type FieldError, invalidField, requiredField } from '../field-errors.ts';
import { stringAt } from '../json.ts';
import { immutableField } from '../object-meta.ts';
import type { ApiObject, ServedType, TypeRules } from '../served-type.ts';

/** Fields by their name in events.k8s.io/v1 and in core/v1. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

function renamed(event: ApiObject, apiVersion: string, from: 0 | 1, to: 0 | 1): ApiObject {
  const result: ApiObject = { ...event, apiVersion };
  for (const names of RENAMED) {
    const value = event[names[from]];
    if (value === undefined) continue;
    delete result[names[from]];
    if (value === null) continue;
    result[names[to]] = value;
  }
  return result;
}

/** The core/v1 face of stored events. Views of one stored event are made once. */
export function createCoreEventView(): NonNullable<ServedType['view']> {
  const made = new WeakMap<ApiObject, ApiObject>();
  return {
    fromStored(event) {
      const known = made.get(event);
      if (known !== undefined) return known;
      const view = Object.freeze({
        firstTimestamp: null,
        lastTimestamp: null,
        source: Object.freeze({}),
        ...renamed(event, 'v1', 0, 1),
      });
      made.set(event, view);
      return view;
    },
    toStored: (event) => renamed(event, 'events.k8s.io/v1', 1, 0),
  };
}

type Getter = (event: ApiObject) => string;

/** Selectable fields of both forms; `prefix` names the member that holds the object the event is about. */
function aboutFields(prefix: string): Record<string, Getter> {
  const fields: Record<string, Getter> = {
    reason: (event) => stringAt(event, 'reason') ?? '',
    type: (event) => stringAt(event, 'type') ?? '',
  };
  for (const field of ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']) {
    fields[`${prefix}.${field}`] = (event) => stringAt(event, prefix, field) ?? '';
  }
  return fields;
}

const MAX_NAME_LENGTH = 128;
const MAX_NOTE_BYTES = 1_024;

/** Source: kubernetes pkg/apis/core/validation/events.go; the errors name core/v1 fields where those differ. */
function validateEvent(event: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = event.metadata.namespace ?? '';
  const about = stringAt(event, 'regarding', 'namespace') ?? '';
  if (about === '' ? namespace !== 'default' : about !== namespace) {
    errors.push(invalidField('involvedObject.namespace', about, 'does not match event.namespace'));
  }
  if (!event['eventTime']) errors.push(requiredField('eventTime'));
  for (const field of ['reportingController', 'reportingInstance', 'action', 'reason']) {
    const value = stringAt(event, field) ?? '';
    if (value === '') errors.push(requiredField(field));
    else if (value.length > MAX_NAME_LENGTH)
      errors.push(invalidField(field, '', `can have at most ${MAX_NAME_LENGTH} characters`));
  }
  if (Buffer.byteLength(stringAt(event, 'note') ?? '') > MAX_NOTE_BYTES)
    errors.push(invalidField('message', '', `can have at most ${MAX_NOTE_BYTES} characters`));
  const type = stringAt(event, 'type') ?? '';
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalidField('type', type, 'has invalid value'));
  return errors;
}

const IMMUTABLE = [
  'regarding',
  'reason',
  'action',
  'note',
  'type',
  'eventTime',
  'reportingController',
  'reportingInstance',
  'related',
];

function validateEventUpdate(event: ApiObject, old: ApiObject): FieldError[] {
  // Events written through the core API are held to no rules.
  if (!old['eventTime']) return [];
  return [...validateEvent(event), ...IMMUTABLE.flatMap((field) => immutableField(field, old[field], event[field]))];
}

export const eventRules: TypeRules = {
  validateCreate: validateEvent,
  validateUpdate: validateEventUpdate,
  selectableFields: {
    ...aboutFields('regarding'),
    reportingController: (event) => stringAt(event, 'reportingController') ?? '',
  },
};

export const coreEventRules: TypeRules = {
  selectableFields: {
    ...aboutFields('involvedObject'),
    reportingComponent: (event) => stringAt(event, 'reportingComponent') ?? '',
    source: (event) => stringAt(event, 'source', 'component') || (stringAt(event, 'reportingComponent') ?? ''),
  },
};

/** Events in their two forms, core/v1 and events.k8s.io/v1, over one storage. Source: kubernetes pkg/apis/events/v1/conversion.go. */
import { type FieldError, invalidField, requiredField } from '../field-errors.ts';
import { stringAt, valueAt } from '../json.ts';
import { immutableField, qualifiedNameProblems } from '../object-meta.ts';
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

/** What an event is called in each of its two forms. */
interface EventForm {
  /** The member that holds the object the event is about. */
  readonly about: string;
  readonly controller: string;
  readonly text: string;
}

const NEW_FORM: EventForm = { about: 'regarding', controller: 'reportingController', text: 'note' };
const CORE_FORM: EventForm = { about: 'involvedObject', controller: 'reportingComponent', text: 'message' };

/** Rules of all events, of which those without an event time are held to little. The errors name core/v1 fields where those differ. */
function validateAnyEvent(event: ApiObject, form: EventForm): FieldError[] {
  const namespace = event.metadata.namespace ?? '';
  const about = stringAt(event, form.about, 'namespace') ?? '';
  const other = invalidField('involvedObject.namespace', about, 'does not match event.namespace');
  if (!event['eventTime']) return (about === '' ? namespace !== 'default' : about !== namespace) ? [other] : [];
  const errors: FieldError[] = [];
  if (about === '' && namespace !== 'default' && namespace !== 'kube-system') errors.push(other);
  const controller = stringAt(event, form.controller) ?? '';
  if (controller === '') errors.push(requiredField(form.controller));
  for (const problem of qualifiedNameProblems(controller))
    errors.push(invalidField(form.controller, controller, problem));
  for (const field of ['reportingInstance', 'action', 'reason']) {
    const value = stringAt(event, field) ?? '';
    if (value === '') errors.push(requiredField(field));
    if (value.length > MAX_NAME_LENGTH)
      errors.push(invalidField(field, '', `can have at most ${MAX_NAME_LENGTH} characters`));
  }
  if (Buffer.byteLength(stringAt(event, form.text) ?? '') > MAX_NOTE_BYTES)
    errors.push(invalidField('message', '', `can have at most ${MAX_NOTE_BYTES} characters`));
  return errors;
}

/** Source: kubernetes pkg/apis/core/validation/events.go. */
function validateEvent(event: ApiObject): FieldError[] {
  const errors = validateAnyEvent(event, NEW_FORM);
  const count = valueAt(event, 'series', 'count');
  if (event['series'] && (typeof count !== 'number' || count < 2))
    errors.push(invalidField('series.count', '', 'should be at least 2'));
  if (event['series'] && !valueAt(event, 'series', 'lastObservedTime'))
    errors.push(requiredField('series.lastObservedTime'));
  if (!event['eventTime']) errors.push(requiredField('eventTime'));
  const type = stringAt(event, 'type') ?? '';
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalidField('type', '', `has invalid value: ${type}`));
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
  validateCreate: (event) => validateAnyEvent(event, CORE_FORM),
  selectableFields: {
    ...aboutFields('involvedObject'),
    reportingComponent: (event) => stringAt(event, 'reportingComponent') ?? '',
    source: (event) => stringAt(event, 'source', 'component') || (stringAt(event, 'reportingComponent') ?? ''),
  },
};

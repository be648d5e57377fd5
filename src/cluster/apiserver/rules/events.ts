/** Events in their two forms, core/v1 and events.k8s.io/v1, over one storage. Source: kubernetes pkg/apis/events/v1/conversion.go. */
import { type JsonObject, objectAt, stringAt } from '../json.ts';
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
      const view = Object.freeze(renamed(event, 'v1', 0, 1));
      made.set(event, view);
      return view;
    },
    toStored: (event) => renamed(event, 'events.k8s.io/v1', 1, 0),
  };
}

function reference(event: ApiObject, target: JsonObject | undefined, prefix: string): Record<string, string> {
  const fields: Record<string, string> = {
    reason: stringAt(event, 'reason') ?? '',
    type: stringAt(event, 'type') ?? '',
  };
  for (const field of ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'])
    fields[`${prefix}.${field}`] = stringAt(target, field) ?? '';
  return fields;
}

export const eventRules: TypeRules = {
  selectableFields: (event) => ({
    ...reference(event, objectAt(event, 'regarding'), 'regarding'),
    reportingController: stringAt(event, 'reportingController') ?? '',
  }),
};

export const coreEventRules: TypeRules = {
  selectableFields: (event) => ({
    ...reference(event, objectAt(event, 'involvedObject'), 'involvedObject'),
    reportingComponent: stringAt(event, 'reportingComponent') ?? '',
    source: stringAt(event, 'source', 'component') || (stringAt(event, 'reportingComponent') ?? ''),
  }),
};

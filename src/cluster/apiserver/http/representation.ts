/** Content negotiation: plain objects, tables for `kubectl get`, and metadata only, in JSON or YAML. */

import { apiVersionOf } from '../../../api/resources.ts';
import { packageOf } from '../decode.ts';
import { invalidField } from '../field-errors.ts';
import type { JsonObject } from '../json.ts';
import type { ApiObject, ServedType } from '../served-type.ts';
import { badRequest } from '../status-error.ts';
import {
  type AcceptedForm,
  acceptedForm,
  type MediaType,
  notAcceptable,
  nothingAccepted,
  shownAs,
} from './media-type.ts';
import type { TablePrinter } from './table.ts';

export interface Representation {
  readonly contentType: MediaType;
  /** Objects are shown as they are. */
  readonly isPlain: boolean;
  /** @throws 406 where a list was asked for */
  one(object: JsonObject): JsonObject;
  /** @throws 406 where a single object was asked for */
  list(items: readonly ApiObject[], listMeta: JsonObject): JsonObject;
  /** An event's object in a watch; `first` for the first one of the stream. */
  event(object: ApiObject, first: boolean): JsonObject;
}

const INCLUSIONS = ['None', 'Metadata', 'Object'];
const SHOWN_AS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];

/** Items of a list carry no type of their own: the list says it. */
function withoutType({ apiVersion: _apiVersion, kind: _kind, ...item }: ApiObject): JsonObject {
  return item;
}

/** Whether objects can be shown as the form asks for. */
function isShown(form: AcceptedForm): boolean {
  const asked = shownAs(form);
  if (asked === undefined) return true;
  const { group, version, kind } = asked;
  return group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1') && SHOWN_AS.includes(kind);
}

/** What a request accepts. @throws 406 where the Accept header leaves nothing that is served */
export function negotiate(
  accept: string,
  type: ServedType,
  query: URLSearchParams,
  table: TablePrinter,
): Representation {
  const form = acceptedForm(accept, isShown);
  if (form === undefined) throw nothingAccepted(accept);
  const asked = shownAs(form);
  if (asked?.kind === 'Table') return tableForm(type, query, table, form);
  if (asked !== undefined) return partialForm(type, form, asked.kind === 'PartialObjectMetadataList');
  return {
    contentType: form.mediaType,
    isPlain: true,
    one: (object) => object,
    list: (items, metadata) => ({
      kind: `${type.kind}List`,
      apiVersion: apiVersionOf(type),
      metadata: type.customResource ? { continue: '', ...metadata } : metadata,
      items: type.customResource ? [...items] : items.map(withoutType),
    }),
    event: (object) => object,
  };
}

/** Watches are streams of JSON. @throws 406 */
export function checkStream(accept: string): void {
  const isStream = (form: AcceptedForm): boolean =>
    form.mediaType === 'application/json' && isShown(form) && (form.parameters.get('stream') ?? 'watch') === 'watch';
  if (acceptedForm(accept, isStream) === undefined) throw nothingAccepted(accept, true);
}

/** As Go's messages name the internal type. */
function goTypeOf({ group, kind, customResource }: ServedType): string {
  return customResource === true ? '*unstructured.Unstructured' : `*${packageOf(group)}.${kind}`;
}

function notShownAs(kind: string, what: string): Error {
  return notAcceptable(`you requested ${kind}, but the requested object is ${what}`);
}

function versionOf(form: AcceptedForm): string {
  return `meta.k8s.io/${shownAs(form)?.version}`;
}

const partialIn =
  (apiVersion: string) =>
  ({ metadata }: JsonObject): JsonObject => ({ kind: 'PartialObjectMetadata', apiVersion, metadata });

function partialForm(type: ServedType, form: AcceptedForm, ofList: boolean): Representation {
  const apiVersion = versionOf(form);
  const partial = partialIn(apiVersion);
  return {
    contentType: form.mediaType,
    isPlain: false,
    one(object) {
      if (ofList) throw notShownAs('PartialObjectMetadataList', `not a list (${goTypeOf(type)})`);
      return partial(object);
    },
    list(items, metadata) {
      if (!ofList) throw notShownAs('PartialObjectMetadata', `a list (${goTypeOf(type)}List)`);
      return { kind: 'PartialObjectMetadataList', apiVersion, metadata, items: items.map(partial) };
    },
    event: partial,
  };
}

function checkInclusion(include: string): void {
  if (INCLUSIONS.includes(include)) return;
  const { field, message } = invalidField('includeObject', include, "must be 'Metadata', 'Object', 'None', or empty");
  throw badRequest(`Unable to convert to Table as requested: ${field}: ${message}`);
}

function tableForm(
  type: ServedType,
  query: URLSearchParams,
  printer: TablePrinter,
  form: AcceptedForm,
): Representation {
  const include = query.get('includeObject') || 'Metadata';
  const apiVersion = versionOf(form);
  const partial = partialIn(apiVersion);
  const print = (items: readonly ApiObject[], metadata: JsonObject, withColumns: boolean): JsonObject => {
    checkInclusion(include);
    const { columns, rowOf } = printer.forType(type);
    return {
      kind: 'Table',
      apiVersion,
      metadata,
      columnDefinitions: withColumns ? columns.map((column) => ({ ...column })) : null,
      rows: items.map((item) => ({
        cells: rowOf(item),
        object: include === 'None' ? null : include === 'Object' ? item : partial(item),
      })),
    };
  };
  return {
    contentType: form.mediaType,
    isPlain: false,
    one: (object) => {
      const { metadata } = object as ApiObject;
      return print([object as ApiObject], { resourceVersion: metadata.resourceVersion }, true);
    },
    list: (items, metadata) => print(items, metadata, true),
    event: (object, first) => print([object], { resourceVersion: object.metadata.resourceVersion }, first),
  };
}

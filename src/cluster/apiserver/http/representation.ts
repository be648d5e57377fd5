/** Content negotiation: plain objects, tables for `kubectl get`, and metadata only. */

import { apiVersionOf } from '../../../api/resources.ts';
import type { JsonObject } from '../json.ts';
import type { ApiObject, ServedType } from '../served-type.ts';
import type { TablePrinter } from './table.ts';

export interface Representation {
  readonly contentType: string;
  one(object: JsonObject): JsonObject;
  list(items: readonly ApiObject[], listMeta: JsonObject): JsonObject;
  /** An event's object in a watch; `first` for the first one of the stream. */
  event(object: ApiObject, first: boolean): JsonObject;
}

type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Items of a list carry no type of their own: the list says it. */
function withoutType({ apiVersion: _apiVersion, kind: _kind, ...item }: ApiObject): JsonObject {
  return item;
}

function partial(object: JsonObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] };
}

/** Chooses by the Accept header; the first form we know wins, plain JSON is the fallback. */
export function negotiate(
  accept: string,
  type: ServedType,
  query: URLSearchParams,
  table: TablePrinter,
): Representation {
  const forms = accept.split(',').map((part) => part.trim());
  for (const form of forms) {
    if (!form.startsWith('application/json')) continue;
    if (form.includes('as=Table')) return tableForm(type, query, table);
    if (form.includes('as=PartialObjectMetadata')) return partialForm();
    break;
  }
  return {
    contentType: 'application/json',
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

function partialForm(): Representation {
  return {
    contentType: 'application/json',
    one: partial,
    list: (items, metadata) => ({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      items: items.map(partial),
    }),
    event: partial,
  };
}

function tableForm(type: ServedType, query: URLSearchParams, printer: TablePrinter): Representation {
  const asked = query.get('includeObject');
  const include: IncludeObject = asked === 'None' || asked === 'Object' ? asked : 'Metadata';
  const print = (items: readonly ApiObject[], metadata: JsonObject, withColumns: boolean): JsonObject => {
    const { columns, rowOf } = printer.forType(type);
    return {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      columnDefinitions: withColumns ? columns.map((column) => ({ ...column })) : null,
      rows: items.map((item) => ({
        cells: rowOf(item),
        object: include === 'None' ? null : include === 'Object' ? item : partial(item),
      })),
    };
  };
  return {
    contentType: 'application/json',
    one: (object) => {
      const { metadata } = object as ApiObject;
      return print([object as ApiObject], { resourceVersion: metadata.resourceVersion }, true);
    },
    list: (items, metadata) => print(items, metadata, true),
    event: (object, first) => print([object], { resourceVersion: object.metadata.resourceVersion }, first),
  };
}

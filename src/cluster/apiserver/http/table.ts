/** Tables as `kubectl get` shows them: columns by type, cells by the server. */
import type { Clock } from '../../../lib/clock.ts';
import type { Json } from '../json.ts';
import type { ApiObject, ServedType } from '../served-type.ts';
import { ageOf, type ColumnSource } from './column-source.ts';
import { NEW_EVENT_COLUMNS, TABLE_COLUMNS } from './table-columns.ts';

export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'date';
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
}

export interface TableForm {
  readonly columns: readonly TableColumn[];
  rowOf(object: ApiObject): Json[];
}

export interface TablePrinter {
  forType(type: ServedType): TableForm;
}

const NAME: ColumnSource = { name: 'Name', cell: (object) => object.metadata.name ?? '' };
const AGE: ColumnSource = { name: 'Age', cell: (object, now) => ageOf(object.metadata.creationTimestamp, now) };

/** @param extra columns of types the built-in table does not know, e.g. additionalPrinterColumns of a custom resource. */
export function createTablePrinter(
  clock: Clock,
  extra: (type: ServedType) => readonly ColumnSource[] | undefined,
): TablePrinter {
  return {
    forType(type) {
      const newEvents = type.group === 'events.k8s.io' && type.plural === 'events';
      const known = newEvents ? NEW_EVENT_COLUMNS : (TABLE_COLUMNS[type.storage] ?? extra(type) ?? [AGE]);
      const hasName = known.some((column) => column.name === 'Name');
      const sources = hasName || type.storage.endsWith('/events') ? known : [NAME, ...known];
      return {
        columns: sources.map(({ name, wide, integer }) => ({
          name,
          type: integer ? 'integer' : 'string',
          format: name === 'Name' ? 'name' : '',
          description: name,
          priority: wide ? 1 : 0,
        })),
        rowOf: (object) => sources.map(({ cell }) => cell(object, clock.now())),
      };
    },
  };
}

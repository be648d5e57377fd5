/** Tables as `kubectl get` shows them: columns by type, cells by the server. */
import type { Clock } from '../../../lib/clock.ts';
import { jsonPathValue } from '../custom/json-path.ts';
import { type Json, textOf } from '../json.ts';
import type { ApiObject, ServedType } from '../served-type.ts';
import { ageOf, type ColumnSource } from './column-source.ts';
import { NEW_EVENT_COLUMNS, TABLE_COLUMNS } from './table-columns.ts';

/** A column as the `Table` answer describes it. */
export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'date';
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
}

/** Cells come in the order of the columns. */
export interface TableForm {
  readonly columns: readonly TableColumn[];
  rowOf(object: ApiObject): Json[];
}

export interface TablePrinter {
  forType(type: ServedType): TableForm;
}

const NAME: ColumnSource = { name: 'Name', cell: (object) => object.metadata.name ?? '' };
const AGE: ColumnSource = { name: 'Age', cell: (object, now) => ageOf(object.metadata.creationTimestamp, now) };

function customColumns({ printColumns }: ServedType): readonly ColumnSource[] {
  if (printColumns === undefined) return [AGE];
  return printColumns.map(({ name, type, jsonPath, wide }) => ({
    name,
    wide,
    integer: type === 'integer',
    cell(object, nowMillis) {
      const value = jsonPathValue(object, jsonPath);
      if (value === undefined || value === null) return type === 'date' ? '<unknown>' : '';
      if (type === 'date') return ageOf(textOf(value), nowMillis);
      return typeof value === 'object' ? JSON.stringify(value) : value;
    },
  }));
}

export function createTablePrinter(clock: Clock): TablePrinter {
  return {
    forType(type) {
      const newEvents = type.group === 'events.k8s.io' && type.plural === 'events';
      const known = newEvents ? NEW_EVENT_COLUMNS : (TABLE_COLUMNS[type.storage] ?? customColumns(type));
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

/** The fields of a kind as Markdown tables, one a section of the spec, from the schema of its definition. */
import { isRecord } from '../../lib/is-record.ts';
import type { CrdSchema } from './crd-schema.ts';

interface Row {
  readonly path: string;
  readonly schema: CrdSchema;
  readonly isRequired: boolean;
}

/** A table of every field below `schema`, whose own path is `path`. Fields of labels selectors and the like are listed too. */
export function fieldTable(schema: CrdSchema, path: string): string {
  const rows = rowsOf({ path, schema, isRequired: false }).filter((row) => row.path !== path);
  const lines = rows.map((row) => {
    const type = typeOf(row.schema);
    const needed = row.isRequired ? 'required' : defaultOf(row.schema);
    return `| \`${row.path}\` | ${type} | ${needed} | ${meaningOf(row.schema)} |`;
  });
  return ['| Field | Type | Default | Meaning |', '|---|---|---|---|', ...lines].join('\n');
}

function rowsOf(row: Row): Row[] {
  const { path, schema } = row;
  const items = recordOf(schema['items']);
  if (items !== undefined) return [row, ...membersOf(items, `${path}[]`)];
  return [row, ...membersOf(schema, path)];
}

function membersOf(schema: CrdSchema, path: string): Row[] {
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  return Object.entries(recordOf(schema['properties']) ?? {}).flatMap(([name, member]) =>
    rowsOf({ path: `${path}.${name}`, schema: recordOf(member) ?? {}, isRequired: required.has(name) }),
  );
}

function typeOf(schema: CrdSchema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'quantity';
  const items = recordOf(schema['items']);
  if (items !== undefined) return `list of ${typeOf(items)}`;
  const values = recordOf(schema['additionalProperties']);
  if (values !== undefined) return `map of ${typeOf(values)}`;
  return typeof schema['type'] === 'string' ? schema['type'] : 'any';
}

function defaultOf(schema: CrdSchema): string {
  const fallback = schema['default'];
  return fallback === undefined || typeof fallback === 'object' ? '' : `\`${textOf(fallback)}\``;
}

/** Description, accepted values, bounds and rules. */
function meaningOf(schema: CrdSchema): string {
  const description = typeof schema['description'] === 'string' ? schema['description'] : '';
  const choices = schema['enum'] ?? recordOf(schema['items'])?.['enum'];
  const parts = [
    description,
    Array.isArray(choices) ? `One of ${choices.map((choice) => `\`${String(choice)}\``).join(', ')}.` : '',
    rangeOf(schema),
    ...rulesOf(schema),
  ];
  return parts
    .filter((part) => part !== '')
    .join(' ')
    .replaceAll('|', '\\|');
}

function rangeOf({ minimum, maximum }: CrdSchema): string {
  if (minimum !== undefined && maximum !== undefined) return `From ${textOf(minimum)} to ${textOf(maximum)}.`;
  if (minimum !== undefined) return `At least ${textOf(minimum)}.`;
  return maximum === undefined ? '' : `At most ${textOf(maximum)}.`;
}

function rulesOf(schema: CrdSchema): string[] {
  const rules = schema['x-kubernetes-validations'];
  if (!Array.isArray(rules)) return [];
  return rules.map((rule: { readonly message?: unknown }) => `Rule: ${String(rule.message)}.`);
}

/** Texts as they are, all else as JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

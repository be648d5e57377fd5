/** The machine-readable forms of every command's result: a document with `apiVersion` and `kind`, as JSON or YAML. */
import { stringify } from 'yaml';
import { printableJson } from '../lib/printable.ts';

export const outputFormats = ['table', 'wide', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Whether a document is printed, not text for people. */
export const isForMachines = (format: OutputFormat): boolean => format === 'json' || format === 'yaml';

/** Version of the documents' schema. Fields are added within a version, never renamed or removed. */
export const DOCUMENT_VERSION = 'cli.stowage.dev/v1';

/** Result of a command for machines; the rest of the fields depend on `kind` and are described in docs/cli.md. */
export interface ResultDocument {
  readonly apiVersion: typeof DOCUMENT_VERSION;
  readonly kind: string;
}

/** The text of `document` in a machine-readable format, ending in a newline; undefined for formats meant for people. */
export function renderDocument(document: ResultDocument, format: OutputFormat): string | undefined {
  if (format === 'json') return `${printableJson(JSON.stringify(document, undefined, 2))}\n`;
  // Aliases would hide equal values behind anchors that few readers resolve; long lines stay whole for grep.
  if (format === 'yaml') {
    const text = stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
    return printableJson(text) === text ? text : stringifyQuoted(document);
  }
  return undefined;
}

/** JSON's quotes are YAML's, too, with the same escapes. */
function stringifyQuoted(document: ResultDocument): string {
  return printableJson(
    stringify(document, { aliasDuplicateObjects: false, lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE' }),
  );
}

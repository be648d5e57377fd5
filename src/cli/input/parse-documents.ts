/** Text of a manifest or dump -> API objects: JSON, YAML with several documents, and Lists of any depth. */
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../api/core.ts';

export interface ParsedText {
  readonly objects: readonly KubeObject[];
  /** One sentence per document or item that could not be used, beginning with `source:line`. */
  readonly problems: readonly string[];
}

/**
 * Reads every API object out of `text`. What cannot be read is skipped and named; the rest is returned.
 * @param source how messages call the text: a path, or `standard input`.
 */
export function parseDocuments(text: string, source: string): ParsedText {
  const objects: KubeObject[] = [];
  const problems: string[] = [];
  const collect = (value: unknown, where: string): void => collectObjects(value, where, undefined, objects, problems);

  const json = tryJson(text);
  if (json !== undefined) {
    collect(json.value, source);
    return { objects, problems };
  }
  const documents = parseAllDocuments(text, { prettyErrors: true, uniqueKeys: false, logLevel: 'silent' });
  if (!Array.isArray(documents)) return { objects, problems };
  for (const document of documents) {
    const offset = document.contents?.range?.[0] ?? document.range[0];
    const where = `${source}:${lineAt(text, offset)}`;
    const [error] = document.errors;
    if (error !== undefined) {
      const at = error.linePos?.[0].line;
      problems.push(
        `${source}:${at ?? lineAt(text, offset)}: not valid YAML, document skipped: ${firstLine(error.message)}`,
      );
      continue;
    }
    try {
      const value: unknown = document.toJS({ maxAliasCount: 100 });
      if (value !== null) collect(value, where);
    } catch (error) {
      // Aliases that multiply without end ("billion laughs") are refused by the parser.
      problems.push(`${where}: document skipped: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { objects, problems };
}

/** Much faster than YAML for big `kubectl -o json` dumps. */
function tryJson(text: string): { readonly value: unknown } | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    // YAML in flow style, several JSON documents, or broken: the YAML parser says where.
    return undefined;
  }
}

function collectObjects(
  value: unknown,
  where: string,
  inherited: KubeObject | undefined,
  objects: KubeObject[],
  problems: string[],
): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collectObjects(item, `${where}: item ${index + 1}`, inherited, objects, problems);
    return;
  }
  if (!isRecord(value)) {
    problems.push(`${where}: not a Kubernetes object (a map with apiVersion and kind), skipped`);
    return;
  }
  const object: KubeObject = { ...inherited, ...value };
  const { apiVersion, kind } = object;
  if (typeof kind === 'string' && kind.endsWith('List') && 'items' in value) {
    // Items of a typed list, such as PodList from the API itself, carry neither kind nor apiVersion.
    const itemKind =
      kind === 'List' || typeof apiVersion !== 'string'
        ? undefined
        : { apiVersion, kind: kind.slice(0, -'List'.length) };
    collectObjects(value['items'] ?? [], where, itemKind, objects, problems);
    return;
  }
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
    problems.push(`${where}: not a Kubernetes object (apiVersion or kind is missing), skipped`);
    return;
  }
  objects.push(object);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? message).replace(/:$/, '');
}

/** Reads and merges kubeconfig files the way kubectl does, with each relative path resolved against its own file. */

import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { describeError, describeFileError, hasErrorCode, StowageError } from '../../lib/errors.ts';
import { isRecord } from '../../lib/is-record.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A named cluster, user or context, and the folder its relative paths start from. */
export interface Entry {
  readonly fields: Fields;
  readonly directory: string;
  /** The file it comes from, for messages. */
  readonly file: string;
}

/** The files together. What is missing is told only when it is asked for. */
export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
}

/** The kubeconfig cannot be used; the message says which file, what and how to mend it. */
export class KubeconfigError extends StowageError {
  override readonly name = 'KubeconfigError';

  constructor(message: string, cause?: unknown) {
    super('KUBECONFIG', message, { cause });
  }
}

/**
 * Merge rule of kubectl: for each name, and for `current-context`, the first file that has it wins.
 * @param files in order; when there are several, those that do not exist are skipped.
 */
export async function readKubeconfig(files: readonly string[]): Promise<Kubeconfig> {
  const sections = {
    clusters: new Map<string, Entry>(),
    users: new Map<string, Entry>(),
    contexts: new Map<string, Entry>(),
  };
  let currentContext: string | undefined;
  const found: string[] = [];
  for (const file of files) {
    const document = await readOne(file, files.length > 1);
    if (document === undefined) continue;
    found.push(file);
    currentContext ||= textOf(document, 'current-context');
    addEntries(sections.clusters, document, 'clusters', 'cluster', file);
    addEntries(sections.users, document, 'users', 'user', file);
    addEntries(sections.contexts, document, 'contexts', 'context', file);
  }
  if (found.length === 0) throw new KubeconfigError(`No kubeconfig found; looked for ${files.join(', ')}.`);
  return { files: found, currentContext, ...sections };
}

async function readOne(file: string, isOptional: boolean): Promise<Fields | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isOptional && hasErrorCode(error, 'ENOENT')) return undefined;
    throw new KubeconfigError(
      `Cannot read the kubeconfig ${file}: ${describeFileError(error)}. Name another with --kubeconfig or KUBECONFIG.`,
      error,
    );
  }
  // Loaded here: a process that runs in a cluster never needs it.
  const { parseYaml } = await import('../../lib/yaml.ts');
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (error) {
    throw new KubeconfigError(`The kubeconfig ${file} is not valid YAML: ${describeError(error)}`, error);
  }
  if (document === null || document === undefined) return {};
  if (!isRecord(document))
    throw new KubeconfigError(`The kubeconfig ${file} should be a mapping with clusters, users and contexts.`);
  return document;
}

function addEntries(into: Map<string, Entry>, document: Fields, list: string, item: string, file: string): void {
  const entries = document[list] ?? [];
  if (!Array.isArray(entries)) throw new KubeconfigError(`The kubeconfig ${file}: "${list}" should be a list.`);
  for (const entry of entries) {
    const name = isRecord(entry) ? textOf(entry, 'name') : undefined;
    if (!isRecord(entry) || name === undefined)
      throw new KubeconfigError(`The kubeconfig ${file}: each of "${list}" needs a name.`);
    const fields = entry[item] ?? {};
    if (!isRecord(fields))
      throw new KubeconfigError(`The kubeconfig ${file}: "${item}" of ${list} "${name}" should be a mapping.`);
    if (!into.has(name)) into.set(name, { fields, directory: dirname(resolve(file)), file });
  }
}

/** The text of a field; undefined when absent, empty or not text (numbers count, as YAML reads bare digits so). */
export function textOf(fields: Fields, key: string): string | undefined {
  const value = fields[key];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A path of the entry, made absolute against the file it stands in; undefined when absent. */
export function pathOf(entry: Entry, key: string): string | undefined {
  const path = textOf(entry.fields, key);
  return path === undefined || isAbsolute(path) ? path : resolve(entry.directory, path);
}

/** Reads Kubernetes objects from text, files and folders: multi-document YAML, JSON, Lists as `kubectl get -o yaml` prints them. */

import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { decodeText } from '../lib/decode-text.ts';
import { describeError, describeFileError, hasErrorCode } from '../lib/errors.ts';
import { isRecord } from '../lib/is-record.ts';
import { splitJsonValues } from '../lib/json-values.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';
import { headOf, refuseEndless } from '../lib/yaml.ts';
import type { KubeObject } from './core.ts';
import { parseYamlList } from './yaml-list.ts';

/** What was found. Problems are whole sentences that name the place; the rest is usable in spite of them. */
export interface Manifests {
  readonly objects: readonly KubeObject[];
  readonly problems: readonly string[];
}

const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);
/** Kinds that others live in or are made of come first; everything else keeps its order. */
const FIRST_KINDS = [
  'Namespace',
  'CustomResourceDefinition',
  'StorageClass',
  'PriorityClass',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
];

/**
 * Reads every object of `text`. Lists, also nested ones, are taken apart; empty documents are skipped.
 * @param source how problems call the text, e.g. its file name.
 */
export function parseManifests(text: string, source: string): Manifests {
  const objects: KubeObject[] = [];
  const problems: string[] = [];
  for (const { value, place, problem } of documentsOf(text, source)) {
    if (problem !== undefined) problems.push(problem);
    else collect(value, place, undefined, objects, problems);
  }
  return { objects, problems };
}

/**
 * Reads files and folders (recursively, names in order; only .yaml, .yml and .json inside folders). `-` is not treated
 * specially: whoever offers standard input reads it and calls {@link parseManifests}.
 * @returns the objects sorted for applying: see {@link sortForApply}. A path that cannot be read is a problem, not an error.
 */
export async function readManifests(paths: readonly string[]): Promise<Manifests> {
  const objects: KubeObject[] = [];
  const problems: string[] = [];
  for (const path of paths) {
    for await (const file of filesOf(path, problems)) {
      try {
        const found = parseManifests(decodeText(await readFile(file)), file);
        // One by one: a call takes some hundred thousand arguments at most.
        for (const object of found.objects) objects.push(object);
        for (const problem of found.problems) problems.push(problem);
      } catch (error) {
        problems.push(`${file}: ${whyUnread(error)}`);
      }
    }
  }
  return { objects: sortForApply(objects), problems };
}

/** Namespaces and definitions first, so that what depends on them can be created; otherwise the order is kept. */
export function sortForApply(objects: readonly KubeObject[]): KubeObject[] {
  const rank = ({ kind = '' }: KubeObject): number => {
    const index = FIRST_KINDS.indexOf(kind);
    return index < 0 ? FIRST_KINDS.length : index;
  };
  return [...objects].sort((left, right) => rank(left) - rank(right));
}

interface Document {
  readonly value: unknown;
  readonly place: string;
  readonly problem?: string;
}

function whyUnread(error: unknown): string {
  // What V8 can hold as one text: half a gigabyte.
  const isTooLong = hasErrorCode(error, 'ERR_STRING_TOO_LONG') || hasErrorCode(error, 'ERR_FS_FILE_TOO_LARGE');
  if (isTooLong || error instanceof RangeError) return 'too large to be read at once; give the kinds in a file each.';
  return `cannot be read: ${describeFileError(error)}`;
}

function* documentsOf(text: string, source: string): Iterable<Document> {
  // A byte order mark, as some editors on Windows write it.
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  // Whole dumps come as JSON, too, and the built-in parser reads them some fifty times faster.
  const json = /^\s*[{[]/.test(body) ? jsonDocuments(body, source) : undefined;
  if (json !== undefined) {
    yield* json;
    return;
  }
  const list = parseYamlList(body);
  if (list !== undefined) {
    yield { value: list, place: source };
    return;
  }
  const documents = parseAllDocuments(body, { logLevel: 'silent', uniqueKeys: false });
  if (!Array.isArray(documents)) return;
  for (const [index, document] of documents.entries()) {
    const place = documents.length === 1 ? source : `${source}, document ${index + 1}`;
    const [error] = document.errors;
    if (error !== undefined) {
      const cut = isAtEnd(body, error.pos[0]) ? CUT_OFF : '';
      yield { value: undefined, place, problem: `${place}: not valid YAML: ${headOf(error.message)}${cut}` };
      continue;
    }
    try {
      const value: unknown = document.toJS({ maxAliasCount: 100 });
      refuseEndless(value);
      yield { value, place };
    } catch (failure) {
      yield { value: undefined, place, problem: `${place}: not valid YAML: ${headOf(describeError(failure))}` };
    }
  }
}

/**
 * One JSON value, or several one after the other. Undefined for what is no JSON after all, such as YAML in flow style: the YAML parser
 * says what is wrong with it.
 */
function jsonDocuments(text: string, source: string): Document[] | undefined {
  const whole = tryParseJson(text);
  if (whole !== undefined) return [{ value: whole, place: source }];
  const { values, rest } = splitJsonValues(text);
  const parts = rest === '' ? values : [...values, rest];
  const [first = '', second = ''] = parts;
  const isCut = values.length === 0 && /^\s*\{\s*"/.test(rest);
  const isSeveral = /^\s*[{[]/.test(second) && tryParseJson(first) !== undefined;
  if (!isCut && !isSeveral) return undefined;
  return parts.map((part, index) => {
    const place = isSeveral ? `${source}, document ${index + 1}` : source;
    const value = tryParseJson(part);
    if (value !== undefined) return { value, place };
    return { value, place, problem: `${place}: not valid JSON${part === rest ? CUT_OFF : ''}` };
  });
}

const CUT_OFF = '; it ends there, as if it were cut off: write it again';

const CUT_LIST = 'kubectl writes that of a list at its end, so it seems to be cut off: write it again';

/** Whether all that follows a mistake is the rest of its line. */
function isAtEnd(text: string, offset: number): boolean {
  return !text.slice(offset).trim().includes('\n');
}

function collect(
  value: unknown,
  place: string,
  inherited: { readonly apiVersion: string; readonly kind: string } | undefined,
  objects: KubeObject[],
  problems: string[],
): void {
  if (value === null || value === undefined) return;
  if (!isRecord(value)) {
    problems.push(`${place}: ${describeNonObject(value)}`);
    return;
  }
  const { apiVersion = inherited?.apiVersion, kind = inherited?.kind, items } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    const missing = typeof kind !== 'string' ? 'kind' : 'apiVersion';
    // kubectl writes the kind of a List after its items.
    const isCutList = Array.isArray(items) && missing === 'kind';
    const why = isCutList ? CUT_LIST : 'every object needs apiVersion, kind and metadata.name';
    problems.push(`${place}: "${missing}" is missing; ${why}.`);
    return;
  }
  if (kind.endsWith('List') && Array.isArray(items)) {
    // Items of a typed list (`PodList`) need not repeat their type.
    const itemKind = kind === 'List' ? undefined : { apiVersion, kind: kind.slice(0, -'List'.length) };
    for (const [index, item] of items.entries())
      collect(item, `${place}, item ${index + 1}`, itemKind, objects, problems);
    return;
  }
  const metadata = value['metadata'];
  const name = isRecord(metadata) ? (metadata['name'] ?? metadata['generateName']) : undefined;
  if (!isRecord(metadata) || typeof name !== 'string' || name === '') {
    problems.push(`${place}: this ${kind} has no metadata.name; give it one.`);
    return;
  }
  objects.push({ ...value, apiVersion, kind, metadata });
}

async function* filesOf(path: string, problems: string[]): AsyncIterable<string> {
  try {
    if (!(await stat(path)).isDirectory()) {
      yield path;
      return;
    }
  } catch (error) {
    problems.push(`${path}: ${describeFileError(error, 'file or folder')}.`);
    return;
  }
  const entries = (await readdir(path, { withFileTypes: true, recursive: true }))
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && EXTENSIONS.has(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  // A mounted ConfigMap holds each file twice: in a folder of its own, and as a link to that.
  const read = new Set<string>();
  for (const entry of entries) {
    try {
      const file = await realpath(entry);
      if (read.has(file) || !(await stat(file)).isFile()) continue;
      read.add(file);
    } catch (error) {
      problems.push(`${entry}: ${describeFileError(error)}.`);
      continue;
    }
    yield entry;
  }
  if (entries.length === 0) problems.push(`${path}: the folder holds no .yaml, .yml or .json file.`);
}

function describeNonObject(value: unknown): string {
  if (typeof value === 'string' && /^NAME(SPACE)?\s/.test(value)) {
    return 'this is a table for people; ask kubectl for objects with -o yaml or -o json.';
  }
  return `expected a Kubernetes object, found ${Array.isArray(value) ? 'a list; a List object has kind: List and items' : `a ${typeof value}`}.`;
}

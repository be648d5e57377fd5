/** YAML text with the line of each key, so that every complaint can say where. */

import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { ConfigError } from '../lib/errors.ts';
import { isRecord } from '../lib/is-record.ts';

/** Data that remembers where it was written. */
export interface YamlSource {
  /** The keys of the top level; empty for an empty file. */
  readonly root: Readonly<Record<string, unknown>>;
  /** The line of the key at `path`, from 1; of its nearest written parent where it stands behind an anchor. */
  lineOf(path: readonly string[]): number | undefined;
}

/**
 * @param what the kind of file, for messages.
 * @throws ConfigError listing every syntax error with its line.
 */
export function parseYamlSource(text: string, fileName: string, what = 'YAML config file'): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fail = (line: number | undefined, message: string): string =>
    `failed to parse ${what} ${fileName}${line === undefined ? '' : `:${line}`}: ${message}`;
  if (document.errors.length > 0) {
    throw new ConfigError(document.errors.map(({ pos, message }) => fail(lines.linePos(pos[0]).line, message)));
  }

  const root = toObject(document, fail);
  if (!isRecord(root)) throw new ConfigError([fail(1, 'the file must hold keys with values')]);
  return {
    root,
    lineOf(path) {
      let node: unknown = document.contents;
      let line: number | undefined;
      for (const name of path) {
        if (!isMap(node)) break;
        const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) : key) === name);
        if (pair === undefined) break;
        const start = isNode(pair.key) ? pair.key.range?.[0] : undefined;
        if (start !== undefined) line = lines.linePos(start).line;
        node = pair.value;
      }
      return line;
    },
  };
}

function toObject(
  document: ReturnType<typeof parseDocument>,
  fail: (line: undefined, message: string) => string,
): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    // Too many aliases, or one to an anchor that is not there.
    throw new ConfigError([fail(undefined, error instanceof Error ? error.message : String(error))]);
  }
}

/** YAML text with the line of each key, so that every complaint can say where. */

import { isMap, isNode, isScalar, isSeq, LineCounter, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { ConfigError, describeError } from '../lib/errors.ts';
import { isRecord } from '../lib/is-record.ts';
import { headOf, refuseEndless } from '../lib/yaml.ts';

/** Data that remembers where it was written. */
export interface YamlSource {
  /** The keys of the top level; empty for an empty file. */
  readonly root: Readonly<Record<string, unknown>>;
  /** The line of the key or list item at `path`, from 1; of its nearest written parent where it stands behind an anchor. */
  lineOf(path: readonly string[]): number | undefined;
}

const MAX_ERRORS = 5;
/** Characters; what a ConfigMap holds. The parser takes minutes for a dump that was named by mistake. */
const MAX_LENGTH = 2 ** 20;

/**
 * @param what the kind of file, for messages.
 * @throws ConfigError listing the first syntax errors with their lines: what follows one is mostly its consequence.
 */
export function parseYamlSource(text: string, fileName: string, what = 'YAML config file'): YamlSource {
  if (text.length > MAX_LENGTH) {
    // Rounded up: what is too long is never told as 1 MiB.
    const size = Math.ceil((text.length * 10) / MAX_LENGTH) / 10;
    throw new ConfigError([`${fileName} is no ${what}: it has ${size} MiB, and 1 MiB is what a ConfigMap can hold`]);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const fail = (line: number | undefined, message: string): string =>
    `failed to parse ${what} ${fileName}${line === undefined ? '' : `:${line}`}: ${message}`;
  if (document.errors.length > 0) {
    const told = document.errors
      .slice(0, MAX_ERRORS)
      .map(({ pos, message }) => fail(lines.linePos(pos[0]).line, headOf(message)));
    const more = document.errors.length - told.length;
    throw new ConfigError(more === 0 ? told : [...told, fail(undefined, `${more} more mistakes are not listed`)]);
  }

  const root = toObject(document, fail);
  if (!isRecord(root)) throw new ConfigError([fail(1, 'the file must hold keys with values')]);
  const pairOf = pairFinder();
  return {
    root,
    lineOf(path) {
      let node: unknown = document.contents;
      let line: number | undefined;
      for (const name of path) {
        const item = isSeq(node) ? node.get(Number(name), true) : undefined;
        const pair = isMap(node) ? pairOf(node, name) : undefined;
        const found = pair === undefined ? item : pair.key;
        const start = isNode(found) ? found.range?.[0] : undefined;
        if (start === undefined) break;
        line = lines.linePos(start).line;
        node = pair === undefined ? item : pair.value;
      }
      return line;
    },
  };
}

/** Finds the pair of a key; each map is gone through once, however many keys are looked for. */
function pairFinder(): (map: YAMLMap, name: string) => Pair | undefined {
  const indexes = new Map<YAMLMap, ReadonlyMap<unknown, Pair>>();
  return (map, name) => {
    const known = indexes.get(map);
    if (known !== undefined) return known.get(name);
    const index = new Map(map.items.map((pair) => [isScalar(pair.key) ? String(pair.key.value) : pair.key, pair]));
    indexes.set(map, index);
    return index.get(name);
  };
}

function toObject(
  document: ReturnType<typeof parseDocument>,
  fail: (line: undefined, message: string) => string,
): unknown {
  try {
    const value: unknown = document.toJS() ?? {};
    refuseEndless(value);
    return value;
  } catch (error) {
    // Too many aliases, one to an anchor that is not there, or one within what it stands for.
    throw new ConfigError([fail(undefined, headOf(describeError(error)))]);
  }
}

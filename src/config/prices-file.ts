/** Reads a prices file: YAML or JSON in the format of api/prices.ts, each complaint with the line it is about. */

import { readFileSync } from 'node:fs';
import { type PriceTable, pricesGrammar, priceTableSchema } from '../api/prices.ts';
import { ConfigError, describeFileError } from '../lib/errors.ts';
import { memberOf } from '../lib/is-record.ts';
import { quoted } from '../lib/shortened.ts';
import { parseYamlSource } from './yaml-source.ts';

/**
 * @param fileName for messages.
 * @throws ConfigError listing every problem with its line, value and what is accepted.
 */
export function parsePrices(text: string, fileName: string): PriceTable {
  const source = parseYamlSource(text, fileName, 'prices file');
  const result = priceTableSchema.safeParse(source.root);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap(({ path, message, ...issue }) => {
    const keys = 'keys' in issue ? issue.keys : undefined;
    // An unknown key is told at its own line, not at that of its parent.
    if (keys !== undefined) return keys.map((key) => complain([...path, key], 'is not a key of a prices file', false));
    return [complain(path, message, true)];
  });
  throw new ConfigError(problems);

  function complain(path: readonly PropertyKey[], message: string, tellValue: boolean): string {
    const names = path.map(String);
    const line = source.lineOf(names);
    const where = `${fileName}${line === undefined ? '' : `:${line}`}: ${names.join(': ')}`;
    const value = valueAt(source.root, names);
    const given = tellValue && (value === null || typeof value !== 'object') ? `: ${quoted(value) ?? 'nothing'}` : '';
    return `${where} ${message}${given}; accepted: ${acceptedAt(names)}`;
  }
}

/** @throws ConfigError as {@link parsePrices}, and when the file cannot be read. */
export function loadPricesFile(path: string): PriceTable {
  return parsePrices(readPricesFile(path), path);
}

/** @throws ConfigError when the file cannot be read. */
export function readPricesFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([
      `failed to read prices file ${path}: ${describeFileError(error)}; name another with --prices or placement.prices`,
    ]);
  }
}

/** What may stand at a place of the file, for its message. */
function acceptedAt(path: readonly string[]): string {
  const isEntry = path[0] === 'instanceTypes' && path.length >= 2;
  const name = path.at(-1) ?? '';
  if (isEntry && path.length > 2 && (name === 'onDemand' || name === 'spot')) return pricesGrammar.price;
  if (isEntry && path.length > 2 && name === 'spotDiscount') return pricesGrammar.discount;
  if (isEntry) return pricesGrammar.entry;
  if (path[0] === 'instanceTypes') return 'instance types, each with its prices';
  return path[0] === 'source' || path[0] === 'asOf' || path[0] === 'region'
    ? 'text'
    : 'source, asOf, region and instanceTypes';
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const name of path) value = memberOf(value, name);
  return value;
}

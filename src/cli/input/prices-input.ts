/** What instance types cost, for a command: by the file that is named, else by that of the configuration. */
import type { PriceTable } from '../../api/prices.ts';
import { loadPricesFile, parsePrices, readPricesFile } from '../../config/prices-file.ts';
import { ConfigError } from '../../lib/errors.ts';

export interface PricesInput {
  /** Undefined: nothing is said of costs. */
  readonly prices: PriceTable | undefined;
  /** A sentence, where it is the configuration's file that cannot be read. */
  readonly problem?: string;
}

/**
 * The configuration names a file of the machine its operator runs on, which goes on without it as well.
 * @param named with `--prices`. @param configured empty for none.
 * @throws ConfigError for a named file that cannot be read, and for either where it is not valid.
 */
export function readPrices(named: string | undefined, configured: string): PricesInput {
  if (named !== undefined) return { prices: named === '' ? undefined : loadPricesFile(named) };
  if (configured === '') return { prices: undefined };
  const text = textOf(configured);
  return typeof text === 'string'
    ? { prices: parsePrices(text, configured) }
    : { prices: undefined, problem: `costs are not told: ${text.message}` };
}

function textOf(path: string): string | ConfigError {
  try {
    return readPricesFile(path);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/**
 * The prices file of `placement.prices`, read again while the process runs. A file that cannot be used changes nothing
 * but is reported.
 */
import type { PriceTable } from '../api/prices.ts';
import { parsePrices, readPricesFile } from '../config/prices-file.ts';
import { type Clock, pause } from '../lib/clock.ts';
import { ConfigError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';

/** How often the file is read: prices are for people and dashboards, no decision waits for them. */
const POLL_MILLIS = 10_000;

export interface PriceSourceOptions {
  /** Empty for none. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with each table that is valid, and with undefined when there is no file any more. */
  readonly onChange: (prices: PriceTable | undefined) => void;
  /** Replaceable for tests. @throws ConfigError */
  readonly read?: (path: string) => string;
}

/** The last table that was valid stays in force; with another path it does not. */
export interface PriceSource {
  /** Follows this file from now on; empty text for none. */
  use(path: string): void;
  /** Reads at once, then every ten seconds until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Nothing is read before `run` or `use`. */
export function createPriceSource({ clock, log, onChange, ...options }: PriceSourceOptions): PriceSource {
  const { read = readPricesFile } = options;
  let path = options.path;
  /** The text last looked at, or the error instead of it: each is told once. */
  let lastOutcome: string | undefined;

  /** Nothing happens where the text is the same as last time. */
  const check = (): void => {
    if (path === '') return;
    let text: string | undefined;
    try {
      text = read(path);
      if (text === lastOutcome) return;
      const prices = parsePrices(text, path);
      lastOutcome = text;
      log.info({ path, instanceTypes: Object.keys(prices.instanceTypes).length }, 'Prices are known');
      onChange(prices);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const outcome = text ?? error.message;
      if (outcome === lastOutcome) return;
      lastOutcome = outcome;
      log.error({ path, error }, 'The prices file cannot be used; the prices known before stay in force');
    }
  };

  return {
    use(next) {
      if (next === path) return;
      path = next;
      lastOutcome = undefined;
      // Prices of another file would pass for those of this one.
      onChange(undefined);
      check();
    },
    async run(signal) {
      while (!signal.aborted) {
        check();
        await pause(clock, POLL_MILLIS, signal);
      }
    },
  };
}

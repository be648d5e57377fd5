/** A small file that others replace (token, CA): read at most once a minute, and at once when it proved out of date. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../lib/clock.ts';
import { describeError, StowageError } from '../../lib/errors.ts';

/** Many readers at once cause one read. */
export interface FileSource {
  /** The file's text. When a later read fails, the last good text is kept. */
  read(): Promise<string>;
  /** Read anew at the next call. */
  invalidate(): void;
}

/**
 * Projected tokens live for an hour and are replaced at 80 % of it; a minute is early enough. Source: client-go
 * transport/token_source.go.
 */
const MAX_AGE_MILLIS = 60_000;

/** @param what for messages, e.g. `service account token`. */
export function createFileSource(path: string, what: string, clock: Clock): FileSource {
  let text: string | undefined;
  let readMillis = 0;
  let reading: Promise<string> | undefined;

  const readNow = async (): Promise<string> => {
    try {
      const found = await readFile(path, 'utf8');
      // A volume in the middle of an update, or a writer that truncates first: keep what worked.
      if (found.trim() !== '' || text === undefined) text = found;
      readMillis = clock.now();
      return text;
    } catch (error) {
      readMillis = clock.now();
      if (text !== undefined) return text;
      throw new StowageError('KUBE_CREDENTIALS', `Cannot read the ${what} at ${path}: ${describeError(error)}`, {
        cause: error,
      });
    } finally {
      reading = undefined;
    }
  };

  return {
    read() {
      if (reading !== undefined) return reading;
      // A reading ahead of now is from before the clock was set back.
      if (text !== undefined && Math.abs(clock.now() - readMillis) < MAX_AGE_MILLIS) return Promise.resolve(text);
      reading = readNow();
      return reading;
    },
    invalidate() {
      readMillis = Number.NEGATIVE_INFINITY;
    },
  };
}

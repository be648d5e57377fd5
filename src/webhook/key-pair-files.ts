/** The serving certificate as files: read at start and followed, so that a renewal needs no restart. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type Clock, pause } from '../lib/clock.ts';
import { describeError, describeFileError, StowageError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { servingContext } from '../lib/serving-context.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { KeyPair } from './server.ts';

/** How often the files are read even when the file system reports no change (network file systems report none). */
const POLL_MILLIS = 10_000;

/** @throws StowageError (KEY_PAIR) saying which file is missing or why the pair cannot be used. */
export async function readKeyPair(directory: string): Promise<KeyPair> {
  const pair = await readFiles(directory);
  checkKeyPair(pair, directory);
  return pair;
}

async function readFiles(directory: string): Promise<KeyPair> {
  const read = async (file: string): Promise<string> => {
    const path = join(directory, file);
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      const hint = 'Mount the webhook certificate there or set webhook.certDir';
      throw new StowageError('KEY_PAIR', `${path} cannot be read (${describeFileError(error)}). ${hint}.`, {
        cause: error,
      });
    }
  };
  return { cert: await read('tls.crt'), key: await read('tls.key') };
}

/** @throws StowageError (KEY_PAIR) when certificate and key are unreadable or do not belong together. */
export function checkKeyPair(pair: KeyPair, where: string): void {
  try {
    createSecureContext(servingContext(pair));
    // An empty text passes there as "none given", and every handshake would fail later.
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)))
      throw new Error('the key is not that of the certificate');
  } catch (error) {
    const what = `The certificate and key in ${where} cannot be used (${describeError(error)})`;
    throw new StowageError('KEY_PAIR', `${what}. tls.key must be the unencrypted PEM key of tls.crt.`, {
      cause: error,
    });
  }
}

/** First and last instant at which the leaf is valid. */
export function validityOf(pair: KeyPair): {
  readonly notBeforeMillis: EpochMillis;
  readonly notAfterMillis: EpochMillis;
} {
  const leaf = new X509Certificate(pair.cert);
  return { notBeforeMillis: Date.parse(leaf.validFrom), notAfterMillis: Date.parse(leaf.validTo) };
}

export interface FollowOptions {
  readonly directory: string;
  /** The pair in use now. */
  readonly current: KeyPair;
  readonly clock: Clock;
  readonly log: Logger;
  /** Receives each new, checked pair. */
  readonly onChange: (pair: KeyPair) => void;
}

/**
 * Follows the files until `signal` aborts. A pair that cannot be used is reported once and the old one stays. Never
 * rejects.
 */
export async function followKeyPair(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { directory, clock, log, onChange } = options;
  let current = options.current;
  let lastProblem = '';

  const check = async (): Promise<void> => {
    try {
      const pair = await readFiles(directory);
      const isSame = pair.cert === current.cert && pair.key === current.key;
      if (!isSame) checkKeyPair(pair, directory);
      lastProblem = '';
      if (isSame) return;
      onChange(pair);
      current = pair;
      log.info({ directory }, 'The webhook certificate was renewed');
    } catch (error) {
      const problem = describeError(error);
      if (problem !== lastProblem)
        log.warn({ directory, error }, 'The new webhook certificate cannot be used; the old one stays');
      lastProblem = problem;
    }
  };

  let wake: () => void = () => {};
  const watcher = watchDirectory(directory, () => wake(), log);
  try {
    while (!signal.aborted) {
      const nap = new AbortController();
      wake = () => nap.abort();
      await pause(clock, POLL_MILLIS, AbortSignal.any([signal, nap.signal]));
      if (!signal.aborted) await check();
    }
  } finally {
    watcher?.close();
  }
}

/** The directory is watched, not the files: Secret volumes swap a symbolic link beside them. */
function watchDirectory(directory: string, onEvent: () => void, log: Logger): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, onEvent);
    watcher.on('error', (error) =>
      log.debug({ directory, error }, 'The certificate directory cannot be watched; it is polled'),
    );
    return watcher;
  } catch (error) {
    log.debug({ directory, error }, 'The certificate directory cannot be watched; it is polled');
    return undefined;
  }
}

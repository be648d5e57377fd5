/**
 * Where the webhook's certificate comes from: given by the caller, files somebody else renews, or our own in a Secret.
 */
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { checkKeyPair, followKeyPair, readKeyPair } from '../webhook/key-pair-files.ts';
import type { KeyPair } from '../webhook/server.ts';

/** One for the life of the process: the first pair is at hand before the port opens. */
export interface KeyPairSource {
  /** The pair to serve first. */
  readonly first: KeyPair;
  /**
   * Why clients would not trust the pair, apart from its time of validity; undefined when nothing is known against it.
   */
  problem(): string | undefined;
  /** Tells of each new pair until `signal` aborts. Never rejects. */
  follow(onChange: (pair: KeyPair) => void, signal: AbortSignal): Promise<void>;
}

/** @throws StowageError when the pair cannot be used. */
export function fixedKeyPair(pair: KeyPair): KeyPairSource {
  checkKeyPair(pair, 'memory');
  return { first: pair, problem: () => undefined, follow: async () => {} };
}

/** @throws StowageError naming the file that is missing or why the pair cannot be used. */
export async function keyPairInFiles(directory: string, clock: Clock, log: Logger): Promise<KeyPairSource> {
  const first = await readKeyPair(directory);
  return {
    first,
    problem: () => undefined,
    follow: (onChange, signal) => followKeyPair({ directory, current: first, clock, log, onChange }, signal),
  };
}

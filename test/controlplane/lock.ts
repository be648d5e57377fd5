/** A lock between processes, made of one file that names its holder. A holder that died without releasing it is noticed and replaced. */
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type Clock, sleep } from '../../src/lib/clock.ts';
import { formatIdentity, identify, isRunning, parseIdentity } from './process-identity.ts';

const POLL_MILLIS = 500;
/** A lock file that names nobody is foreign or damaged; after this long it counts as stale. */
const UNREADABLE_STALE_MILLIS = 60_000;

export interface LockOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Called once, when another live process holds the lock. */
  readonly onWait?: (holderPid: number | undefined) => void;
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function isStale(path: string, content: string, now: number): boolean {
  const holder = parseIdentity(content);
  if (holder !== undefined) return !isRunning(holder);
  return now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > UNREADABLE_STALE_MILLIS;
}

/** Creates the lock file with its whole content at once (a link is atomic, open-then-write is not). */
function tryCreate(path: string, content: string): boolean {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Takes a stale lock out of the way. Of several processes that try, one wins; a fresh lock caught by mistake is put back. */
function removeStale(path: string, staleContent: string): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (readOrUndefined(aside) !== staleContent) tryCreate(path, readOrUndefined(aside) ?? '');
  rmSync(aside, { force: true });
}

/**
 * Waits for the lock, runs `work`, releases the lock.
 * @param path the lock file; its folder must exist.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const self = identify(process.pid);
  if (self === undefined)
    throw new Error('cannot read the start time of this process: is /proc mounted, or ps installed?');
  const content = formatIdentity(self);
  let hasReported = false;
  while (!tryCreate(path, content)) {
    const held = readOrUndefined(path);
    if (held === undefined) continue;
    if (isStale(path, held, options.clock.now())) {
      removeStale(path, held);
      continue;
    }
    if (!hasReported) options.onWait?.(parseIdentity(held)?.pid);
    hasReported = true;
    await sleep(options.clock, POLL_MILLIS, options.signal);
  }
  try {
    return await work();
  } finally {
    if (readOrUndefined(path) === content) rmSync(path, { force: true });
  }
}

/** Programs out of Debian's packages without installing them: no user, no service, no file outside the cache. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FETCH_TIMEOUT_MILLIS = 300_000;

/** The package and what it needs that is not installed here. */
async function withMissingDependencies(name: string): Promise<string[]> {
  const { stdout } = await run('apt-get', ['--simulate', '--no-install-recommends', 'install', name]);
  const missing = [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, found = '']) => found);
  return missing.length === 0 ? [name] : missing;
}

export interface FetchOptions {
  readonly name: string;
  /** What it needs and is not installed comes along. */
  readonly withDependencies?: boolean;
  /** Becomes the root of what is unpacked. */
  readonly folder: string;
}

/** @throws Error where apt-get or dpkg-deb cannot; nothing is left behind then. */
export async function fetchPackage({ name, withDependencies = false, folder }: FetchOptions): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  // Unpacked aside and moved into place at once: an interrupted download never looks like a finished one.
  const work = mkdtempSync(`${folder}-`);
  try {
    const options = { cwd: work, timeout: FETCH_TIMEOUT_MILLIS };
    await run('apt-get', ['download', ...(withDependencies ? await withMissingDependencies(name) : [name])], options);
    const archives = readdirSync(work).filter((file) => file.endsWith('.deb'));
    if (archives.length === 0) throw new Error('apt-get left no package behind');
    for (const archive of archives) await run('dpkg-deb', ['--extract', archive, 'root'], options);
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(work, 'root'), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

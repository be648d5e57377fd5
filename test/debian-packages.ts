/** Programs out of Debian's packages without installing them: no user, no service, no file outside the cache. */
import { execFile } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

export type Environment = Readonly<Record<string, string | undefined>>;

const run = promisify(execFile);
const FETCH_TIMEOUT_MILLIS = 300_000;

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where what was fetched is kept, whether or not it is there yet. */
export function cacheFolder(name: string, env: Environment): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'stowage', name);
}

/** The first program of these names on PATH. */
export function findOnPath(names: readonly string[], env: Environment): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

/**
 * The program that the variable names.
 * @throws Error when it names no program: using another one silently would hide the mistake.
 */
export function namedProgram(variable: string, env: Environment): string | undefined {
  const named = env[variable];
  if (!named) return undefined;
  if (isExecutable(named)) return named;
  throw new Error(`${variable} is ${named}, which is no program: correct it or unset it`);
}

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

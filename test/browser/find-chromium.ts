/** Finds a Chromium, or takes its headless shell out of Debian's packages. */
import { join } from 'node:path';
import { fetchPackage } from '../debian-packages.ts';
import { cacheFolder, type Environment, findOnPath, isExecutable, namedProgram } from '../programs.ts';

export interface FoundChromium {
  readonly command: string;
  /** What it needs besides the environment of the tests. */
  readonly env: Readonly<Record<string, string>>;
}

const PACKAGE = 'chromium-headless-shell';
const PACKAGED = join('usr', 'lib', 'chromium', PACKAGE);
const libraries = [
  join('usr', 'lib', 'x86_64-linux-gnu'),
  join('usr', 'lib', 'x86_64-linux-gnu', 'pulseaudio'),
  join('usr', 'lib', 'aarch64-linux-gnu'),
  join('usr', 'lib', 'aarch64-linux-gnu', 'pulseaudio'),
];

/** Looks at `TEST_ASSET_CHROMIUM`, then the cache, then PATH. @throws Error when the variable is set but names no program. */
export function findChromium(env: Environment = process.env): FoundChromium | undefined {
  const named = namedProgram('TEST_ASSET_CHROMIUM', env);
  if (named !== undefined) return { command: named, env: {} };
  const folder = cacheFolder(env, 'chromium');
  const cached = join(folder, PACKAGED);
  if (isExecutable(cached)) {
    return { command: cached, env: { LD_LIBRARY_PATH: libraries.map((path) => join(folder, path)).join(':') } };
  }
  const command = findOnPath([PACKAGE, 'chromium', 'chromium-browser', 'google-chrome'], env);
  return command === undefined ? undefined : { command, env: {} };
}

/** Finds it, or downloads it once. @throws Error that says what to do where neither works. */
export async function ensureChromium(env: Environment = process.env): Promise<FoundChromium> {
  const found = findChromium(env);
  if (found !== undefined) return found;
  const advice =
    'Chromium is not here and could not be fetched with apt-get: install it, or set TEST_ASSET_CHROMIUM to its path';
  try {
    await fetchPackage({ name: PACKAGE, withDependencies: true, folder: cacheFolder(env, 'chromium') });
  } catch (cause) {
    throw new Error(advice, { cause });
  }
  const fetched = findChromium(env);
  if (fetched === undefined) throw new Error(advice);
  return fetched;
}

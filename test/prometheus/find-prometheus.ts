/** Finds a Prometheus program, or takes one out of Debian's package. */
import { join } from 'node:path';
import { fetchPackage } from '../debian-packages.ts';
import { cacheFolder, type Environment, findOnPath, isExecutable, namedProgram } from '../programs.ts';

/** Where the package has it, below its root. */
const PACKAGED = join('usr', 'bin', 'prometheus');

/** Where the unpacked package is kept, whether or not it is there yet. */
export const prometheusFolder = (env: Environment = process.env): string => cacheFolder(env, 'prometheus');

/**
 * Looks at `TEST_ASSET_PROMETHEUS`, then the cache, then PATH.
 * @throws Error when the variable is set but names no program.
 */
export function findPrometheus(env: Environment = process.env): string | undefined {
  const cached = join(prometheusFolder(env), PACKAGED);
  return (
    namedProgram('TEST_ASSET_PROMETHEUS', env) ?? (isExecutable(cached) ? cached : findOnPath(['prometheus'], env))
  );
}

/** Finds it, or downloads the package once. @throws Error that says what to do where neither works. */
export async function ensurePrometheus(env: Environment = process.env): Promise<string> {
  const found = findPrometheus(env);
  if (found !== undefined) return found;
  const folder = prometheusFolder(env);
  try {
    await fetchPackage({ name: 'prometheus', folder });
  } catch (cause) {
    throw new Error(
      'Prometheus is not here and could not be fetched with apt-get: install it, or set TEST_ASSET_PROMETHEUS to its path',
      { cause },
    );
  }
  return join(folder, PACKAGED);
}

/** Where programs that tests need are looked for. */
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where what was fetched or built is kept, whether or not it is there yet. */
export function cacheFolder(env: Environment, ...path: readonly string[]): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'stowage', ...path);
}

/** The first program of these names on PATH. */
export function findOnPath(names: readonly string[], env: Environment): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
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

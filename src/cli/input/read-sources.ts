/** What `-f` names -> texts: files, directories (with everything below them) and `-` for standard input. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, hasErrorCode } from '../../lib/errors.ts';
import type { CliIo } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';

export interface SourceText {
  /** How messages call it. */
  readonly name: string;
  readonly text: string;
}

const MANIFEST = /\.(?:ya?ml|json)$/i;

/**
 * The texts behind the paths, files of a directory in order of their names.
 * @throws CommandError when a path cannot be read or a directory holds no manifest.
 */
export async function readSources(paths: readonly string[], io: CliIo): Promise<SourceText[]> {
  const texts: SourceText[] = [];
  for (const path of paths) {
    if (path === '-') texts.push({ name: 'standard input', text: await io.readStdin() });
    else for (const file of await filesOf(path)) texts.push({ name: file, text: await readText(file) });
  }
  return texts;
}

async function filesOf(path: string): Promise<string[]> {
  const info = await orExplain(path, () => stat(path));
  if (!info.isDirectory()) return [path];
  const entries = await orExplain(path, () => readdir(path, { recursive: true, withFileTypes: true }));
  const files = entries.filter((entry) => entry.isFile() && MANIFEST.test(entry.name));
  if (files.length === 0) throw new CommandError(`-f ${path}: the directory holds no .yaml, .yml or .json file`);
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

async function readText(file: string): Promise<string> {
  return orExplain(file, () => readFile(file, 'utf8'));
}

async function orExplain<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT'))
      throw new CommandError(`-f ${path}: no such file or directory`, { cause: error });
    if (hasErrorCode(error, 'EACCES'))
      throw new CommandError(`-f ${path}: not readable, check its permissions`, { cause: error });
    throw new CommandError(`-f ${path}: ${describeError(error)}`, { cause: error });
  }
}

/** How many tests there are, told without running them: where they cannot run, the reader learns what is missing. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @returns files, and tests as written; a table counts as one. */
export function countSuites(directory: string): { readonly files: number; readonly tests: number } {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(suite|behaviour)\.ts$/.test(name),
  );
  const texts = files.map((name) => readFileSync(join(directory, name), 'utf8'));
  const tests = texts.map((text) => text.match(/^\s*test(\.each\(|\()/gm)?.length ?? 0);
  return { files: files.length, tests: tests.reduce((total, each) => total + each, 0) };
}

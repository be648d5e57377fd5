/** Runs one vitest configuration with this Node, as a process of its own; used by every test command. */
import { closeSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runChild } from './run-child.ts';

export interface VitestRun {
  /** Names the report, `NAME.json`, where STOWAGE_TEST_RESULTS names a folder for reports (CI does). */
  readonly name: string;
  /** Configuration file, relative to the project. */
  readonly config: string;
  /** For the runner: files, filters, flags. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A file for what the runner says; without it, the terminal. */
  readonly output?: string;
  /** Turns the command into one that runs it elsewhere, in a namespace say. */
  readonly wrap?: (command: string[]) => string[];
}

const root = resolve(import.meta.dirname, '..');

/** @returns the runner's exit code. SIGINT and SIGTERM are passed on: its tear-down then stops what the suites started. */
export function runVitest({
  name,
  config,
  args = [],
  env = {},
  output,
  wrap = (command) => command,
}: VitestRun): Promise<number> {
  const folder = process.env['STOWAGE_TEST_RESULTS'];
  const reporters =
    folder === undefined
      ? []
      : ['--reporter=default', '--reporter=json', `--outputFile.json=${join(folder, `${name}.json`)}`];
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const [command = '', ...rest] = wrap([
    process.execPath,
    vitest,
    'run',
    '--config',
    join(root, config),
    ...reporters,
    ...args,
  ]);
  const out = output === undefined ? 'inherit' : openSync(output, 'w');
  const ended = runChild(command, rest, { cwd: root, stdio: ['ignore', out, out], env: { ...process.env, ...env } });
  if (typeof out === 'number') closeSync(out);
  return ended;
}

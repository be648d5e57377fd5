/** Runs one vitest configuration with this Node, as a process of its own; used by every test command. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';

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
  return new Promise((done, fail) => {
    const out = output === undefined ? 'inherit' : openSync(output, 'w');
    const child = spawn(command, rest, { cwd: root, stdio: ['ignore', out, out], env: { ...process.env, ...env } });
    if (typeof out === 'number') closeSync(out);
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
    process.on('SIGINT', pass).on('SIGTERM', pass);
    child.once('error', fail);
    child.once('close', (code) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      done(code ?? 1);
    });
  });
}

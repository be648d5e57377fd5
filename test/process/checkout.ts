/** Throw-away checkouts for tests of the launcher and the installer: real files, real processes, removed afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '../..');
export const launcher = join(repository, 'bin/stowage.mjs');

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Called for everything the process prints on standard output, with all of it so far. */
  readonly onOutput?: ((child: ChildProcess, soFar: string) => void) | undefined;
}

/** The environment of the tests without what npm and the test runner put there, so that a child starts as from a shell. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|VITEST|NODE_|KUBECONFIG$|STOWAGE_|SPOTALIS_|FORCE_COLOR$|NO_COLOR$)/.test(name),
  );
  return Object.fromEntries(kept);
}

/** Runs a program to its end; rejects only if it cannot be started. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? repository,
      env: options.env ?? plainEnvironment(),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      options.onOutput?.(child, stdout);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', fail);
    child.on('close', (code, signal) => done({ code, signal, stdout, stderr }));
    // A program that ends without reading its input breaks the pipe; that is its right.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}

/** Runs `stowage ARGS` as a user does, on the Node that runs the tests. */
export function stowage(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return run(process.execPath, [launcher, ...args], options);
}

export interface Checkout extends Disposable {
  readonly path: string;
  write(file: string, text: string, mode?: number): void;
  writeBytes(file: string, bytes: Uint8Array): void;
  has(file: string): boolean;
}

/** A folder with the repository's `files` copied in. Dispose removes it. */
export function createCheckout(files: readonly string[]): Checkout {
  const path = mkdtempSync(join(tmpdir(), 'stowage-checkout-'));
  for (const file of files) cpSync(join(repository, file), join(path, file), { recursive: true });
  return {
    path,
    write(file, text, mode) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
      if (mode !== undefined) chmodSync(join(path, file), mode);
    },
    writeBytes: (file, bytes) => writeFileSync(join(path, file), bytes),
    has: (file) => existsSync(join(path, file)),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** A Node older than the one that runs the tests, found on PATH or named by STOWAGE_TEST_OLD_NODE; undefined if none. */
export async function findOldNode(): Promise<string | undefined> {
  const folders = (process.env['PATH'] ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  const candidates = [process.env['STOWAGE_TEST_OLD_NODE'], ...folders.map((folder) => join(folder, 'node'))];
  for (const candidate of candidates) {
    if (candidate === undefined || !existsSync(candidate)) continue;
    const { stdout } = await run(candidate, ['-p', 'Boolean(process.features.typescript)']);
    if (stdout.trim() === 'false') return candidate;
  }
  return undefined;
}

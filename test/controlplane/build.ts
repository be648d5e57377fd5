/** Finds the programs of the control plane, or builds them from their pinned Go modules: once per machine and version. */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/lib/clock.ts';
import { cacheFolder, type Environment, isExecutable, namedProgram } from '../programs.ts';
import { withLock } from './lock.ts';
import {
  type BuildRecipe,
  buildRecipe,
  type ComponentName,
  cacheKey,
  componentNames,
  readVersions,
} from './versions.ts';

export type Binaries = Readonly<Record<ComponentName, string>>;

export interface BuildOptions {
  readonly clock: Clock;
  readonly env: Environment;
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal;
}

const PROGRESS_MILLIS = 15_000;

/** Where built programs are kept, whether or not they are there yet. */
export function cachedBinaryFolder(env: Environment = process.env): string {
  return cacheFolder(env, 'controlplane', cacheKey(readVersions()));
}

/**
 * Looks in the order of Kubernetes' own envtest: `TEST_ASSET_<NAME>`, the folder `KUBEBUILDER_ASSETS`, then our cache.
 * @returns the path, or undefined when it has to be built.
 * @throws Error when `TEST_ASSET_<NAME>` is set but names no program: using another one silently would hide the mistake.
 */
export function findBinary(component: ComponentName, env: Environment): string | undefined {
  const named = namedProgram(`TEST_ASSET_${component.toUpperCase().replaceAll('-', '_')}`, env);
  if (named !== undefined) return named;
  const candidates = [...(env.KUBEBUILDER_ASSETS ? [env.KUBEBUILDER_ASSETS] : []), cachedBinaryFolder(env)];
  return candidates.map((directory) => join(directory, component)).find(isExecutable);
}

/** @returns undefined when at least one program is missing. */
export function findBinaries(env: Environment): Binaries | undefined {
  const found: Partial<Record<ComponentName, string>> = {};
  for (const component of componentNames) {
    const path = findBinary(component, env);
    if (path === undefined) return undefined;
    found[component] = path;
  }
  return found as Binaries;
}

export function formatElapsed(millis: number): string {
  const seconds = Math.floor(millis / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function runGo(
  args: readonly string[],
  cwd: string,
  env: Environment,
  options: BuildOptions,
): Promise<{ packages: () => number; done: Promise<void> }> {
  return new Promise((resolve, reject) => {
    // GOWORK and GOFLAGS of the caller could pull in other modules or forbid -mod=mod.
    const child = spawn('go', args, {
      cwd,
      env: { ...env, GOWORK: 'off', GOFLAGS: '' },
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(options.signal ? { signal: options.signal } : {}),
    });
    let packages = 0;
    let tail = '';
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text: string) => {
      packages += text.split('\n').length - 1;
      tail = (tail + text).slice(-4000);
    });
    const done = new Promise<void>((finish, fail) => {
      child.on('error', fail);
      child.on('close', (code) => {
        if (code === 0) finish();
        else fail(new Error(`go ${args.join(' ')} ended with code ${code}:\n${tail}`));
      });
    });
    done.catch(() => undefined);
    child.once('spawn', () => resolve({ packages: () => packages, done }));
    child.once('error', reject);
  });
}

/** @throws Error with advice when Go is not installed. */
export async function requireGo(options: BuildOptions): Promise<void> {
  try {
    await (await runGo(['version'], tmpdir(), options.env, options)).done;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    throw new Error(
      'Go is not installed, and the programs of the Kubernetes control plane are not in the cache. Install Go 1.26 or newer (https://go.dev/dl), ' +
        'or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kube-controller-manager and kube-scheduler, ' +
        'or set USE_EXISTING_CLUSTER=true to use the cluster of your current kubeconfig.',
    );
  }
}

/** Builds one program with progress lines; `target` appears only when it is whole. */
export async function buildProgram(
  component: string,
  recipe: BuildRecipe,
  target: string,
  options: BuildOptions,
): Promise<void> {
  const startMillis = options.clock.now();
  // A copy, because -mod=mod may complete go.sum (another platform needs other modules) and a test run must not change the source tree.
  const work = mkdtempSync(join(tmpdir(), 'stowage-build-'));
  const draft = `${target}.${process.pid}.tmp`;
  try {
    for (const file of ['go.mod', 'go.sum']) copyFileSync(join(recipe.moduleDirectory, file), join(work, file));
    options.report(`building ${component} from ${recipe.packagePath}`);
    const tags = recipe.tags === undefined ? [] : ['-tags', recipe.tags.join(',')];
    const linking = ['-ldflags', recipe.linkerFlags.join(' ')];
    const args = ['build', '-mod=mod', '-v', ...tags, ...linking, '-o', draft, recipe.packagePath];
    const build = await runGo(args, work, { ...options.env, CGO_ENABLED: recipe.cgo ? '1' : '0' }, options);
    const elapsed = (): string => formatElapsed(options.clock.now() - startMillis);
    const tick = (): void => {
      options.report(`building ${component}: ${build.packages()} packages, ${elapsed()}`);
      timer = options.clock.setTimer(PROGRESS_MILLIS, tick);
    };
    let timer = options.clock.setTimer(PROGRESS_MILLIS, tick);
    try {
      await build.done;
    } finally {
      timer.cancel();
    }
    // Rename is atomic: no run ever sees half a program, even when this one is killed here.
    renameSync(draft, target);
    options.report(`built ${component} in ${elapsed()}`);
  } finally {
    rmSync(draft, { force: true });
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * The programs' paths, built first where missing (about 12 minutes on two cores, the first time only).
 * Several runs at once build once: the others wait for the lock.
 * @throws Error with advice when Go is needed and not installed.
 */
export async function ensureBinaries(options: BuildOptions): Promise<Binaries> {
  const present = findBinaries(options.env);
  if (present !== undefined) return present;
  await requireGo(options);
  const directory = cachedBinaryFolder(options.env);
  mkdirSync(directory, { recursive: true });
  const versions = readVersions();
  const onWait = (pid: number | undefined): void =>
    options.report(`process ${pid ?? 'unknown'} is building already, waiting for it`);
  return withLock(`${directory}.lock`, { ...options, onWait }, async () => {
    for (const component of componentNames) {
      if (findBinary(component, options.env) !== undefined) continue;
      await buildProgram(component, buildRecipe(component, versions), join(directory, component), options);
    }
    const built = findBinaries(options.env);
    if (built === undefined) throw new Error(`the build ended, but ${directory} does not hold every program`);
    return built;
  });
}

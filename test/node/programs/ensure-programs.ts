/** Finds the programs of a real node in the cache, or builds and unpacks them: once per machine and version. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ascending } from '../../../src/lib/ascending.ts';
import { type BuildOptions, buildProgram, requireGo } from '../../controlplane/build.ts';
import { withLock } from '../../controlplane/lock.ts';
import { cacheFolder, type Environment, isExecutable } from '../../programs.ts';
import { nodeCacheKey, nodeProgramNames, nodeRecipe } from './recipes.ts';

export interface NodePrograms {
  /** Holds every program by its name. */
  readonly directory: string;
  /** Our load program, a static binary. */
  readonly load: string;
  /** For kube-proxy: where `nft` is and the folder of its libraries; undefined libraries for the system's own. */
  readonly nft: { readonly directory: string; readonly libraries: string | undefined };
}

/** nft and the libraries it needs beyond libc; unpacked, not installed: no service, nothing of the machine changes. */
const NFT_PACKAGES = ['nftables', 'libnftables1', 'libnftnl11', 'libjansson4', 'libmnl0', 'libedit2', 'libbsd0'];

export function nodeProgramDirectory(env: Environment = process.env): string {
  return cacheFolder(env, 'node', nodeCacheKey());
}

function run(command: string, args: readonly string[], cwd?: string): string {
  return execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
}

function canRun(command: string, args: readonly string[]): boolean {
  try {
    run(command, args);
    return true;
  } catch {
    return false;
  }
}

/** Installs the headers with Debian's package manager where they are missing and that is possible. */
function ensureSeccomp(report: (line: string) => void): boolean {
  const isThere = (): boolean => canRun('pkg-config', ['--exists', 'libseccomp']);
  if (isThere()) return true;
  report('installing libseccomp-dev and pkg-config for runc');
  const install = ['install', '--yes', '--no-install-recommends', 'libseccomp-dev', 'pkg-config'];
  // A fresh machine has no package lists yet.
  if (!canRun('apt-get', install) && canRun('apt-get', ['update'])) canRun('apt-get', install);
  if (!isThere()) report('libseccomp is not to be had: runc is built without it, containers run without seccomp');
  return isThere();
}

function nftFrom(directory: string): NodePrograms['nft'] | undefined {
  if (existsSync(join(directory, 'nft', 'usr', 'sbin', 'nft'))) {
    const libraries = join(directory, 'nft', 'usr', 'lib');
    const [triplet] = readdirSync(libraries).filter((name) => name.endsWith('-linux-gnu'));
    if (triplet !== undefined)
      return { directory: join(directory, 'nft', 'usr', 'sbin'), libraries: join(libraries, triplet) };
  }
  const own = ['/usr/sbin', '/usr/bin', '/sbin'].find((each) => existsSync(join(each, 'nft')));
  return own === undefined ? undefined : { directory: own, libraries: undefined };
}

function unpackNft(directory: string, report: (line: string) => void): void {
  report('unpacking nftables for kube-proxy');
  const work = mkdtempSync(join(tmpdir(), 'stowage-nft-'));
  try {
    const download = (): boolean => {
      try {
        run('apt-get', ['download', ...NFT_PACKAGES], work);
        return true;
      } catch {
        return false;
      }
    };
    if (!download() && !(canRun('apt-get', ['update']) && download()))
      throw new Error(
        'nft is missing and its Debian packages cannot be downloaded: install nftables, or run on Debian or Ubuntu with a package mirror',
      );
    const target = join(work, 'root');
    for (const file of readdirSync(work).filter((name) => name.endsWith('.deb')))
      run('dpkg-deb', ['--extract', join(work, file), target]);
    run('cp', ['-a', target, join(directory, 'nft')]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const loadSources = join(import.meta.dirname, '..', 'load');

/** Where the load program of these very sources is kept: it changes more often than any version. */
function loadTarget(directory: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(loadSources).sort(ascending)) hash.update(readFileSync(join(loadSources, name)));
  return join(directory, `load-${hash.digest('hex').slice(0, 12)}`);
}

/** Seconds: it has no dependencies. */
function buildLoad(target: string, options: BuildOptions): void {
  const draft = `${target}.${process.pid}.tmp`;
  execFileSync('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', draft, '.'], {
    cwd: loadSources,
    env: { ...options.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-buildvcs=false' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  renameSync(draft, target);
}

function findPrograms(directory: string): NodePrograms | undefined {
  const load = loadTarget(directory);
  const nft = nftFrom(directory);
  const isComplete = nodeProgramNames.every((name) => isExecutable(join(directory, name))) && isExecutable(load);
  return isComplete && nft !== undefined ? { directory, load, nft } : undefined;
}

/**
 * Builds what is missing (about 8 minutes on two cores after the control plane, the first time only).
 * @throws Error with advice when Go is needed and not installed.
 */
export async function ensureNodePrograms(options: BuildOptions): Promise<NodePrograms> {
  const directory = nodeProgramDirectory(options.env);
  const present = findPrograms(directory);
  if (present !== undefined) return present;
  mkdirSync(directory, { recursive: true });
  await requireGo(options);
  const onWait = (pid: number | undefined): void =>
    options.report(`process ${pid ?? 'unknown'} is building already, waiting for it`);
  return withLock(`${directory}.lock`, { ...options, onWait }, async () => {
    for (const program of nodeProgramNames) {
      const target = join(directory, program);
      if (isExecutable(target)) continue;
      const withSeccomp = program === 'runc' && ensureSeccomp(options.report);
      await buildProgram(program, nodeRecipe(program, withSeccomp), target, options);
    }
    if (nftFrom(directory) === undefined) unpackNft(directory, options.report);
    if (!isExecutable(loadTarget(directory))) buildLoad(loadTarget(directory), options);
    const built = findPrograms(directory);
    if (built === undefined) throw new Error(`the build ended, but ${directory} does not hold every program`);
    return built;
  });
}

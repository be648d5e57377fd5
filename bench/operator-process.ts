/**
 * The real operator as a process of its own: laid out as in the image (bundle alone) or run from source, measured from
 * /proc.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createAuthority, issueServerCertificate } from '../src/lib/certificates.ts';
import { createSystemClock } from '../src/lib/clock.ts';

const root = resolve(import.meta.dirname, '..');
const MIB = 1024 * 1024;
/** As `engines` of the configuration; what is left out is off. */
export const engineSets = {
  placement: { placement: true },
  allocation: { placement: false, allocation: true },
  all: { placement: true, rightsizing: true, allocation: true },
};
export type EngineSet = keyof typeof engineSets;

/** Far more than it needs on a busy machine: who waits for ever says nothing. */
const READY_MILLIS = 120_000;
/** Passes over all workloads: often, so that two of them are part of what is measured. */
const RECONCILE_SECONDS = 5;
/** Two passes and a little; with all engines also usage collected from every pod and the first word to every agent. */
const SETTLE_MILLIS = { placement: 15_000, allocation: 45_000, all: 45_000 };
/** Seconds over which memory is read, once in each: it goes up and down by megabytes between two collections. */
const READINGS = 15;

/** Builds what the image holds: launcher, bundle and package.json; no source, no node_modules. Returns the launcher. */
export function packageOperator(folder: string): string {
  const image = join(folder, 'image');
  mkdirSync(image, { recursive: true });
  cpSync(join(root, 'bin'), join(image, 'bin'), { recursive: true });
  cpSync(join(root, 'package.json'), join(image, 'package.json'));
  const build = join(root, 'scripts/build.mjs');
  const { status, stderr } = spawnSync(process.execPath, [build, '--out', join(image, 'dist')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed: ${stderr}`);
  return join(image, 'bin/stowage.mjs');
}

/** The launcher of this checkout, which runs the source. */
export const sourceLauncher = join(root, 'bin/stowage.mjs');

export interface OperatorMemory {
  /** MiB resident on average, after the caches are full and two passes were made. */
  readonly rss: number;
  /** Of it the process's own; the rest are pages of the node binary and libraries, shared by all that run it. */
  readonly anonymous: number;
  /** The most it had at any time. */
  readonly peak: number;
  /** CPU seconds used so far. */
  readonly cpuSeconds: number;
}

export interface RunningOperator {
  readonly child: ChildProcess;
  /** Port of the metrics. */
  readonly metrics: number;
}

/**
 * Resolves when it is ready; rejects where it ends before or is not ready in two minutes, with the end of what it said,
 * and leaves no process then. Webhook with a certificate from files, metrics, health and leader election are on.
 */
export async function startOperator(
  launcher: string,
  kubeconfig: string,
  folder: string,
  more: Readonly<Record<string, unknown>>,
): Promise<RunningOperator> {
  const certDir = await writeCertificate(folder);
  const [webhook, metrics, health, web] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const config = join(folder, 'config.yaml');
  const address = (port: number) => ({ enabled: true, bindAddress: `127.0.0.1:${port}` });
  // JSON is YAML.
  const settings = {
    webhook: { enabled: true, port: webhook, certDir },
    observability: { metrics: address(metrics), health: address(health) },
    web: address(web),
    ...more,
  };
  writeFileSync(config, JSON.stringify(settings));
  const child = spawn(process.execPath, [launcher, '--kubeconfig', kubeconfig, 'operator', '--config', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    told = (told + text).slice(-4000);
  });
  const until = performance.now() + READY_MILLIS;
  for (;;) {
    await delay(200);
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`The operator ended:\n${told}`);
    const answer = await fetch(`http://127.0.0.1:${health}/readyz`).catch(() => undefined);
    if (answer?.ok) return { child, metrics };
    if (performance.now() < until) continue;
    await stopProcess(child);
    throw new Error(`The operator was not ready in ${READY_MILLIS / 1000} s:\n${told}`);
  }
}

/**
 * Has an operator with all engines answer every agent. At the pace that operators keep that takes minutes, and it is done
 * once in the life of a cluster.
 * @param pods all of them have an allocation.
 */
export async function workIn(launcher: string, kubeconfig: string, folder: string, pods: number): Promise<void> {
  const { child, metrics } = await startOperator(launcher, kubeconfig, folder, {
    engines: engineSets.all,
    controllers: { rateLimit: { qps: 1000, burst: 1000 } },
  });
  const until = performance.now() + READY_MILLIS;
  try {
    for (;;) {
      await delay(1000);
      const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
      const applied = Number(/mbcas_pod_allocations\{phase="Applied"\} (\d+)/.exec(text)?.[1] ?? 0);
      if (applied >= pods * 0.98) return;
      if (performance.now() > until) throw new Error(`Only ${applied} of ${pods} allocations were answered`);
    }
  } finally {
    await stopProcess(child);
  }
}

/** Starts it, lets it settle, reads its metrics once as a scraper does, measures for a while, and stops it. */
export async function measureOperator(
  launcher: string,
  kubeconfig: string,
  folder: string,
  engines: EngineSet,
): Promise<OperatorMemory> {
  const { child, metrics } = await startOperator(launcher, kubeconfig, folder, {
    engines: engineSets[engines],
    controllers: { reconcileInterval: `${RECONCILE_SECONDS}s` },
  });
  try {
    await delay(SETTLE_MILLIS[engines]);
    await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    const readings: Omit<OperatorMemory, 'cpuSeconds'>[] = [];
    while (readings.length < READINGS) {
      await delay(1000);
      readings.push(readMemory(child));
    }
    const mean = (key: 'rss' | 'anonymous'): number =>
      readings.reduce((sum, reading) => sum + reading[key], 0) / READINGS;
    const cpuSeconds = cpuSecondsOf(child);
    return { rss: mean('rss'), anonymous: mean('anonymous'), peak: readMemory(child).peak, cpuSeconds };
  } finally {
    await stopProcess(child);
  }
}

export function readMemory(child: ChildProcess): Omit<OperatorMemory, 'cpuSeconds'> {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const mib = (key: string): number => (Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / MIB;
  return { rss: mib('VmRSS'), anonymous: mib('RssAnon'), peak: mib('VmHWM') };
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}

/** utime and stime are fields 14 and 15, in ticks of 10 ms. Source: proc_pid_stat(5). */
export function cpuSecondsOf(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function writeCertificate(folder: string): Promise<string> {
  const now = createSystemClock().now();
  const validity = { notBeforeMillis: now - 60_000, notAfterMillis: now + 86_400_000 };
  const authority = await createAuthority({ commonName: 'bench', ...validity });
  const leaf = await issueServerCertificate(authority, {
    commonName: 'webhook',
    ipAddresses: ['127.0.0.1'],
    ...validity,
  });
  const certDir = join(folder, 'certs');
  mkdirSync(certDir, { recursive: true });
  writeFileSync(join(certDir, 'tls.crt'), leaf.certificatePem);
  writeFileSync(join(certDir, 'tls.key'), leaf.privateKeyPem);
  return certDir;
}

/** Of loopback; somebody else may take it before it is used. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

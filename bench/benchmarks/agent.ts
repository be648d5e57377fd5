/**
 * Resident memory and CPU of the real agent process on a node with 110 pods (165 containers), sampled each second, whose use
 * changes all the time; the packaged form, as the image runs it. Memory is the mean of a reading a second: it goes up and down by
 * some megabytes between collections. The baseline of the same run is a process that does nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createAgentWorld, NODE, type WorldPod } from '../../src/agent/testing/agent-world.ts';
import { createAuthority, issueServerCertificate } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSeededRandom } from '../../src/lib/random.ts';
import type { BenchResult } from '../bench-result.ts';
import { cpuSecondsOf, freePort, packageOperator, readMemory, stopProcess } from '../operator-process.ts';

const PODS = 110;
/** Until caches are full, pods are registered and code is compiled. */
const WARM_UP_SECONDS = 30;
const MEASURED_SECONDS = 60;

const clock = createSystemClock();
const random = createSeededRandom(7);
const folder = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
const world = await createAgentWorld({ clock, allocatable: 15_800 });

/** As the kernel would: every pod's counters go on each second, by a load that wanders. */
function createLoad(pods: readonly WorldPod[]) {
  const states = pods.map(() => ({ rate: 50 + 100 * random.next(), used: 0, periods: 0, throttled: 0 }));
  return (): void => {
    pods.forEach(({ fake }, index) => {
      const state = states[index];
      if (state === undefined) return;
      state.rate = Math.max(5, Math.min(400, state.rate * (0.8 + 0.4 * random.next())));
      state.used += Math.round(state.rate * 1000);
      state.periods += 10;
      state.throttled += random.next() < 0.1 ? 3 : 0;
      const figures = {
        usageMicros: state.used,
        periods: state.periods,
        throttledPeriods: state.throttled,
        pressureMicros: state.used,
      };
      world.tree.set(fake, undefined, figures);
      const containers = Object.keys(fake.containers);
      const usageMicros = Math.floor(state.used / containers.length);
      for (const container of containers) world.tree.set(fake, container, { ...figures, usageMicros });
    });
  };
}

async function serve() {
  const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 86_400_000 };
  const authority = await createAuthority({ commonName: 'bench', ...validity });
  const leaf = await issueServerCertificate(authority, { commonName: 'api', ipAddresses: ['127.0.0.1'], ...validity });
  const listening = await world.server.listen({ tls: { cert: leaf.certificatePem, key: leaf.privateKeyPem } });
  const account = join(folder, 'account');
  mkdirSync(account);
  writeFileSync(join(account, 'token'), 'bench');
  writeFileSync(join(account, 'namespace'), 'mbcas-system');
  writeFileSync(join(account, 'ca.crt'), authority.certificatePem);
  return { account, port: new URL(listening.url).port };
}

async function startAgent(
  launcher: string,
  account: string,
  port: string,
): Promise<{ child: ChildProcess; health: number }> {
  const health = await freePort();
  const args = [
    launcher,
    'agent',
    '--node-name',
    NODE,
    '--service-account',
    account,
    '--bind-address',
    `127.0.0.1:${health}`,
  ];
  const env = {
    ...process.env,
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: port,
    STOWAGE_ALLOCATION_MANAGEMENT_MODE: 'optOut',
  };
  const roots = ['--cgroup-root', world.tree.mount, '--proc-root', world.tree.proc];
  const child = spawn(process.execPath, [...args, ...roots], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return { child, health };
}

async function measure(launcher: string, account: string, port: string, advance: () => void) {
  const { child, health } = await startAgent(launcher, account, port);
  /** @returns the memory after each second. */
  const pass = async (seconds: number) => {
    const readings: ReturnType<typeof readMemory>[] = [];
    for (let second = 0; second < seconds; second++) {
      await delay(1000);
      readings.push(readMemory(child));
      advance();
    }
    return readings;
  };
  try {
    await pass(WARM_UP_SECONDS);
    const before = cpuSecondsOf(child);
    const readings = await pass(MEASURED_SECONDS);
    const resident = readings.map(({ rss }) => rss);
    const cpuPercent = ((cpuSecondsOf(child) - before) / MEASURED_SECONDS) * 100;
    const text = await (await fetch(`http://127.0.0.1:${health}/metrics`)).text();
    const counter = (name: string): number => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
    return {
      rss: mean(resident),
      leastRss: Math.min(...resident),
      mostRss: Math.max(...resident),
      anonymous: mean(readings.map(({ anonymous }) => anonymous)),
      peak: readMemory(child).peak,
      cpuPercent,
      samples: counter('mbcas_agent_samples_total'),
      managed: counter('mbcas_managed_pods'),
      unread: counter('mbcas_agent_unread_groups'),
      planMillis:
        (1000 * counter('mbcas_agent_step_duration_seconds_sum{loop="plan"}'.replace(/[{}]/g, '\\$&'))) /
        counter('mbcas_agent_step_duration_seconds_count{loop="plan"}'.replace(/[{}]/g, '\\$&')),
      sampleMillis:
        (1000 * counter('mbcas_cgroup_read_duration_seconds_sum')) /
        counter('mbcas_cgroup_read_duration_seconds_count'),
    };
  } finally {
    await stopProcess(child);
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

/** What Node itself takes with the same flags. */
async function measureIdle(): Promise<number> {
  const flags = [
    '--max-semi-space-size=1',
    '--optimize-for-size',
    '--no-maglev',
    '--no-opt',
    '--no-sparkplug',
    '--no-node-snapshot',
    '--use-openssl-ca',
  ];
  const child = spawn(process.execPath, [...flags, '-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await delay(2000);
  const { rss } = readMemory(child);
  await stopProcess(child);
  return rss;
}

try {
  const pods: WorldPod[] = [];
  for (let index = 0; index < PODS; index++)
    pods.push(await world.addPod({ name: `app-${index}`, containers: index % 2 === 0 ? ['main'] : ['main', 'proxy'] }));
  const { account, port } = await serve();
  const measured = await measure(packageOperator(folder), account, port, createLoad(pods));
  const idle = await measureIdle();
  const result: BenchResult = {
    name: 'agent',
    figures: {
      agent_rss_mb: measured.rss,
      agent_least_rss_mb: measured.leastRss,
      agent_most_rss_mb: measured.mostRss,
      agent_anonymous_mb: measured.anonymous,
      agent_peak_rss_mb: measured.peak,
      agent_cpu_percent: measured.cpuPercent,
      sample_ms: measured.sampleMillis,
      plan_ms: measured.planMillis,
      samples_taken: measured.samples,
      pods_managed: measured.managed,
      groups_unread: measured.unread,
      idle_node_rss_mb: idle,
      agent_to_idle_node_ratio: measured.rss / idle,
    },
    bars: [
      { key: 'agent_rss_mb', op: '<=', value: 60 },
      { key: 'agent_cpu_percent', op: '<=', value: 2 },
      { key: 'pods_managed', op: '==', value: PODS },
      { key: 'groups_unread', op: '==', value: 0 },
    ],
  };
  console.log(JSON.stringify(result));
} finally {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
}

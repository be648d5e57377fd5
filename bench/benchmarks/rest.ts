/**
 * CPU that the operator and a node's agent take while next to nothing happens: one node of 1,800m with eight pods whose use is
 * constant, and with services that are busy in turn for half a minute each. Both processes in the packaged form, as the image
 * runs them; percent of a core over a minute, after one that is not counted. The baseline is a Node that does nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchResult } from '../bench-result.ts';
import {
  cpuSecondsOf,
  type EngineSet,
  engineSets,
  freePort,
  packageOperator,
  startOperator,
  stopProcess,
} from '../operator-process.ts';
import {
  SHARED_NODE,
  type SharedNode,
  type SharedNodeCaller,
  type SharedPodLoad,
  serveSharedNode,
} from '../shared-node.ts';

const WARM_UP_MILLIS = 60_000;
const MEASURED_MILLIS = 60_000;

const quiet = Array.from({ length: 5 }, (_, index) => ({ name: `quiet-${index}`, request: '20m', cpu: '10m' }));
const constant: readonly SharedPodLoad[] = [
  { name: 'a', request: '100m', cpu: '400m' },
  { name: 'b', request: '400m', cpu: '200m' },
  { name: 'hog', request: '400m', cpu: '2000m' },
  ...quiet,
];
const waves: readonly SharedPodLoad[] = [
  { name: 'a', request: '100m', cpu: 'square(230m, 870m, 60s)' },
  { name: 'b', request: '600m', cpu: 'square(780m, 230m, 60s)' },
  { name: 'hog', request: '600m', cpu: '2000m' },
  ...quiet,
];
const runs: readonly {
  readonly name: string;
  readonly loads: readonly SharedPodLoad[];
  readonly engines: EngineSet;
}[] = [
  { name: 'placement', loads: constant, engines: 'placement' },
  { name: 'allocation', loads: constant, engines: 'allocation' },
  { name: 'all', loads: constant, engines: 'all' },
  { name: 'waves', loads: waves, engines: 'allocation' },
];

async function startAgent(launcher: string, node: SharedNode): Promise<ChildProcess> {
  const args = ['agent', '--node-name', SHARED_NODE, '--service-account', node.account];
  const bind = ['--bind-address', `127.0.0.1:${await freePort()}`];
  const roots = ['--cgroup-root', node.cgroupRoot, '--proc-root', node.procRoot];
  const env = {
    ...process.env,
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: node.port,
    STOWAGE_ALLOCATION_MANAGEMENT_MODE: 'optOut',
    MBCAS_STARTUP_GRACE_PERIOD: '0s',
  };
  return spawn(process.execPath, [launcher, ...args, ...bind, ...roots], { env, stdio: 'ignore' });
}

/** CPU of each process and requests of each caller, over the measured time. */
async function measure(node: SharedNode, processes: Readonly<Record<string, ChildProcess>>, run: string) {
  const callers: readonly SharedNodeCaller[] = ['operator', 'agent'];
  const cpu = () => Object.entries(processes).map(([name, child]) => [name, cpuSecondsOf(child)] as const);
  const asked = () => callers.map((caller) => [caller, node.requestsOf(caller)] as const);
  const [cpuBefore, askedBefore] = [new Map(cpu()), new Map(asked())];
  await delay(MEASURED_MILLIS);
  const perMinute = 60_000 / MEASURED_MILLIS;
  return Object.fromEntries([
    ...cpu().map(([name, seconds]) => [
      `${run}_${name}_cpu_percent`,
      ((seconds - (cpuBefore.get(name) ?? 0)) / MEASURED_MILLIS) * 100_000,
    ]),
    ...asked().map(([caller, count]) => [
      `${run}_${caller}_requests_per_minute`,
      (count - (askedBefore.get(caller) ?? 0)) * perMinute,
    ]),
  ]) as Record<string, number>;
}

const folder = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
const figures: Record<string, number> = {};
try {
  const launcher = packageOperator(folder);
  for (const { name, loads, engines } of runs) {
    const node = await serveSharedNode(loads, folder);
    const started: ChildProcess[] = [];
    const begin = (child: ChildProcess): ChildProcess => {
      started.push(child);
      return child;
    };
    try {
      const settings = { engines: engineSets[engines], allocation: { warmUp: '0s' } };
      const operator = begin((await startOperator(launcher, node.kubeconfig, folder, settings)).child);
      const agent = begin(await startAgent(launcher, node));
      const idle = begin(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }));
      await delay(WARM_UP_MILLIS);
      Object.assign(figures, await measure(node, { operator, agent, idle }, name));
    } finally {
      for (const child of started) await stopProcess(child);
      await node.close();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const result: BenchResult = {
  name: 'rest',
  figures,
  bars: [
    { key: 'all_operator_cpu_percent', op: '<=', value: 1 },
    { key: 'all_agent_cpu_percent', op: '<=', value: 0.5 },
  ],
};
console.log(JSON.stringify(result));

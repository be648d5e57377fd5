/** `npm run bench:node`: ways to share a node's CPU, compared with real load on a real kubelet. Not a test: it reports figures, for docs/performance.md. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureBinaries } from '../controlplane/build.ts';
import { type ArmRun, runArm } from './allocation/arm-run.ts';
import { readArmsOptions } from './allocation/arms-options.ts';
import { armsTable } from './allocation/arms-table.ts';
import { installPodAllocations } from './allocation/install.ts';
import { createPriorityGroup, DRIVER_SHARES, SYSTEM_SHARES, weighNode } from './allocation/priority-group.ts';
import { insideNamespace } from './host/network-namespace.ts';
import { createNodeRun, destroyNodeRun, openNodeRun, removeAbandonedNodeRuns } from './host/node-run.ts';
import { obstacles } from './host/requirements.ts';
import { loadImages } from './image/images.ts';
import { ensureNodePrograms } from './programs/ensure-programs.ts';
import { startRealCluster } from './runtime/real-cluster.ts';

const clock = createSystemClock();
const report = (line: string): void => void process.stderr.write(`arms: ${line}\n`);
/** Set for the process inside the run's network namespace. */
const RUN = 'STOWAGE_ARMS_RUN';
/** 1.8 of two CPUs, as in the pilot. */
const NODE = { name: 'arms-1', reserved: { cpu: '200m', memory: '2Gi' } };

async function own(args: readonly string[]): Promise<number> {
  const found = obstacles();
  if (found.length > 0) throw new Error(`a real node cannot run here:\n  ${found.join('\n  ')}`);
  await removeAbandonedNodeRuns(clock);
  const run = createNodeRun();
  try {
    const [command = '', ...rest] = insideNamespace(run.directory, [process.execPath, import.meta.filename, ...args]);
    const inside = spawn(command, rest, { stdio: 'inherit', env: { ...process.env, [RUN]: run.directory } });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => inside.kill('SIGTERM'));
    return await new Promise((resolve) => inside.once('close', (status) => resolve(status ?? 1)));
  } finally {
    await destroyNodeRun(run, clock);
  }
}

async function compare(directory: string, args: readonly string[]): Promise<void> {
  const { arms, requests, runs, out, ...rest } = readArmsOptions(args);
  const run = openNodeRun(directory);
  const options = { clock, env: process.env, report };
  const [binaries, programs] = [await ensureBinaries(options), await ensureNodePrograms(options)];
  // This process and all it starts: control plane, containerd, kubelet, operator.
  createPriorityGroup(run, 'system', SYSTEM_SHARES).take(process.pid);
  const drivers = createPriorityGroup(run, 'drivers', DRIVER_SHARES);
  const images = loadImages(programs.load);
  const cluster = await startRealCluster({ run, clock, binaries, programs, images, nodes: [NODE] });
  const results: ArmRun[] = [];
  try {
    const { api } = cluster;
    const [node] = cluster.nodes;
    if (node === undefined) throw new Error('there is no node');
    weighNode(node.cgroup);
    await installPodAllocations(api, clock);
    for (let seed = 1; seed <= runs; seed++) {
      for (const kind of requests) {
        // All arms with one seed, then all with the next: what changes on the machine meanwhile touches all alike.
        for (const arm of arms) {
          const kubeconfigPath = cluster.controlPlane.adminKubeconfigPath;
          const where = { api, clock, node, kubeconfigPath, directory, load: programs.load, drivers };
          const result = await runArm({ ...where, ...rest, arm, requests: kind, seed });
          results.push(result);
          report(`${arm.name}, request ${kind}, run ${seed}: ${summary(result)}`);
          save(out, results);
        }
      }
    }
  } finally {
    await cluster.stop();
  }
  process.stdout.write(`${armsTable(results)}\n`);
}

function summary({ pods, rest, writesPerMinute }: ArmRun): string {
  const parts = pods.map(({ pod, badShare, usage }) => `${pod} ${usage}m, bad ${Math.round(1000 * badShare) / 10} %`);
  return `${parts.join('; ')}; rest ${rest}m; ${writesPerMinute.toFixed(1)} writes/min/pod`;
}

/** After each run: hours of work must not be lost with the last one. */
function save(out: string | undefined, results: readonly ArmRun[]): void {
  if (out === undefined) return;
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'arms.json'), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(out, 'arms.md'), `${armsTable(results)}\n`);
}

const [args, directory] = [process.argv.slice(2), process.env[RUN]];
try {
  readArmsOptions(args);
  if (directory === undefined) process.exitCode = await own(args);
  else await compare(directory, args);
} catch (error) {
  report(error instanceof Error ? (directory === undefined ? error.message : (error.stack ?? '')) : String(error));
  process.exitCode = 1;
}

/** Boots one node with one pod and waits to be told to end, or to be killed. Prints `running` and the folder of the run when the pod runs. Started by the tests of leftovers. */
import { spawn } from 'node:child_process';
import { isNotFound, unless } from '../../src/api/kube-error.ts';
import { resources } from '../../src/api/resources.ts';
import { createSystemClock, sleep } from '../../src/lib/clock.ts';
import { ensureBinaries } from '../controlplane/build.ts';
import { insideNamespace } from './host/network-namespace.ts';
import { createNodeRun, destroyNodeRun, openNodeRun } from './host/node-run.ts';
import { loadImages } from './image/images.ts';
import { clusterNodes } from './nodes.ts';
import { ensureNodePrograms } from './programs/ensure-programs.ts';
import { startRealCluster } from './runtime/real-cluster.ts';
import { loadTemplate } from './workloads.ts';

const clock = createSystemClock();
const POLL_MILLIS = 50;

function untilTold(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('disconnect', () => resolve());
  });
}

/** Owns the run, and starts itself once more inside the run's namespace. */
async function own(): Promise<void> {
  const run = createNodeRun();
  const [command = '', ...args] = insideNamespace(run.directory, [
    process.execPath,
    import.meta.filename,
    run.directory,
  ]);
  const inside = spawn(command, args, { stdio: 'inherit' });
  const code = new Promise<number>((resolve) => inside.once('close', (status) => resolve(status ?? 1)));
  await Promise.race([untilTold(), code]);
  inside.kill('SIGTERM');
  process.exitCode = await code;
  await destroyNodeRun(run, clock);
}

async function inside(directory: string): Promise<void> {
  const run = openNodeRun(directory);
  const options = { clock, env: process.env, report: () => undefined };
  const [binaries, programs] = [await ensureBinaries(options), await ensureNodePrograms(options)];
  const images = loadImages(programs.load);
  const cluster = await startRealCluster({ run, clock, binaries, programs, images, nodes: clusterNodes.slice(0, 1) });
  try {
    const { metadata, spec = { containers: [] } } = loadTemplate('left');
    const namespace = 'default';
    for (;;) {
      // The namespace's account is made a moment after the namespace.
      try {
        await cluster.api.create(resources.pods, { metadata: { ...metadata, name: 'left' }, spec }, { namespace });
        break;
      } catch {
        await sleep(clock, POLL_MILLIS);
      }
    }
    while ((await phase()) !== 'Running') await sleep(clock, POLL_MILLIS);
    process.stdout.write(`running ${directory}\n`);
    await untilTold();

    async function phase(): Promise<string | undefined> {
      return (await unless(isNotFound, cluster.api.get(resources.pods, 'left', { namespace })))?.status?.phase;
    }
  } finally {
    await cluster.stop();
  }
}

const [directory] = process.argv.slice(2);
await (directory === undefined ? own() : inside(directory));

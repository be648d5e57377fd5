/** Vitest's global set-up of a part of the suites on real nodes: one cluster for all its files. Runs inside the run's network namespace, where run.ts started it. */
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureBinaries } from '../controlplane/build.ts';
import { componentNames } from '../controlplane/versions.ts';
import { openNodeRun } from './host/node-run.ts';
import { loadImages, stowageImage } from './image/images.ts';
import { clusterNodes } from './nodes.ts';
import { partOf } from './parts.ts';
import { ensureNodePrograms } from './programs/ensure-programs.ts';
import { startMetricsServer } from './runtime/metrics-server.ts';
import { startRealCluster } from './runtime/real-cluster.ts';

/** What the test files get through `inject('realNodes')`. */
export interface RealNodesAccess {
  readonly kubeconfigPath: string;
  readonly caPem: string;
  readonly caKeyPem: string;
  readonly runDirectory: string;
  readonly controlPlaneDirectory: string;
  readonly nodes: readonly { readonly name: string; readonly cgroup: string; readonly kubeletUrl: string }[];
}

declare module 'vitest' {
  interface ProvidedContext {
    realNodes: RealNodesAccess;
  }
}

interface Project {
  provide(key: 'realNodes', value: RealNodesAccess): void;
  vitest: { vite: { config: { mode: string } }; state: { getCountOfFailedTests(): number } };
}

const report = (line: string): void => void process.stderr.write(`real nodes: ${line}\n`);

export async function setup(project: Project): Promise<() => Promise<void>> {
  const directory = process.env['STOWAGE_NODE_RUN'];
  if (!directory)
    throw new Error('these suites need a network namespace of their own: start them with `npm run test:node`');
  const clock = createSystemClock();
  const options = { clock, env: process.env, report };
  const [binaries, programs] = [await ensureBinaries(options), await ensureNodePrograms(options)];
  const startMillis = clock.now();
  const { nodes, hasStowage, hasMetrics } = partOf(project.vitest.vite.config.mode);
  const images = [...loadImages(programs.load), ...(hasStowage ? [stowageImage(directory)] : [])];
  report(`packed ${images.length} images in ${((clock.now() - startMillis) / 1000).toFixed(1)} s`);
  const run = openNodeRun(directory);
  const specs = clusterNodes.filter(({ name }) => nodes.includes(name));
  const cluster = await startRealCluster({ run, clock, binaries, programs, images, nodes: specs });
  report(`${cluster.nodes.length} nodes ready after ${((clock.now() - startMillis) / 1000).toFixed(1)} s`);
  const { controlPlane, api } = cluster;
  // Ended with the run.
  if (hasMetrics)
    await startMetricsServer({
      api,
      clock,
      kubeconfigPath: controlPlane.adminKubeconfigPath,
      programDirectory: programs.directory,
      runDirectory: run.directory,
    });
  project.provide('realNodes', {
    kubeconfigPath: controlPlane.adminKubeconfigPath,
    caPem: controlPlane.caPem,
    caKeyPem: controlPlane.authority.caKeyPem,
    runDirectory: run.directory,
    controlPlaneDirectory: controlPlane.directory,
    nodes: cluster.nodes.map(({ name, cgroup, kubeletUrl }) => ({ name, cgroup, kubeletUrl })),
  });
  return async () => {
    if (project.vitest.state.getCountOfFailedTests() > 0) {
      for (const node of cluster.nodes)
        report(`end of the kubelet's log on ${node.name}:\n${node.logs('kubelet', 15)}`);
      for (const name of componentNames) report(`end of the log of ${name}:\n${controlPlane.logs(name, 5)}`);
    }
    await cluster.stop();
  };
}

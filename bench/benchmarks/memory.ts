/**
 * Resident memory of the real operator process against an API server with 1,000 and with 10,000 pods (about 6 KB each on the
 * wire), once its caches are full and it has seen two passes; and the heap a pod record takes.
 * The baseline of the same run is a process that lists the same pods and keeps them whole.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../../src/api/core.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { createApiServer } from '../../src/cluster/apiserver/api-server.ts';
import { createAuthority, issueServerCertificate } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSystemRandom } from '../../src/lib/random.ts';
import type { BenchResult } from '../bench-result.ts';
import {
  benchNamespace,
  createBenchWorld,
  deploymentObject,
  namespaceObject,
  nodeObject,
  replicaSetObject,
  runningPodObject,
} from '../bench-world.ts';

const root = resolve(import.meta.dirname, '../..');
const MIB = 1024 * 1024;

/** Serves a cluster of that many pods, ten a workload; resolves with a kubeconfig for it. */
async function serveCluster(pods: number, nodes: number, folder: string) {
  const clock = createSystemClock();
  const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 86_400_000 };
  const authority = await createAuthority({ commonName: 'bench', ...validity });
  const leaf = await issueServerCertificate(authority, { commonName: 'api', ipAddresses: ['127.0.0.1'], ...validity });
  const server = createApiServer({ clock, random: createSystemRandom() });
  const api = server.client();
  const create = <T extends KubeObject>(type: ResourceType<T>, object: T) =>
    api.create(type, object, type.namespaced ? { namespace: object.metadata?.namespace ?? benchNamespace } : {});
  await create(resources.namespaces, namespaceObject());
  await create(resources.namespaces, { metadata: { name: 'spotalis-system' } });
  for (let index = 0; index < nodes; index++) await create(resources.nodes, nodeObject(index));
  for (let workload = 0; workload < pods / 10; workload++) {
    const deployment = await create(resources.deployments, deploymentObject(workload, 10));
    const replicaSet = replicaSetObject(workload, 10);
    const owned = await create(resources.replicaSets, {
      ...replicaSet,
      metadata: { ...replicaSet.metadata, ownerReferences: [ownerOf('Deployment', deployment)] },
      spec: {
        ...replicaSet.spec,
        selector: deployment.spec?.selector ?? {},
        template: deployment.spec?.template ?? {},
      },
    });
    for (let slot = 1; slot <= 10; slot++) {
      const pod = runningPodObject(workload, slot, (workload * 10 + slot) % nodes);
      const { resourceVersion: _, ...metadata } = pod.metadata ?? {};
      await create(resources.pods, {
        ...pod,
        metadata: { ...metadata, ownerReferences: [ownerOf('ReplicaSet', owned)] },
      });
    }
  }
  const listening = await server.listen({ tls: { cert: leaf.certificatePem, key: leaf.privateKeyPem } });
  const kubeconfig = join(folder, `kubeconfig-${pods}`);
  const cluster = {
    server: listening.url,
    'certificate-authority-data': Buffer.from(authority.certificatePem).toString('base64'),
  };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'bench', cluster }],
      users: [{ name: 'bench', user: { token: 'bench' } }],
      contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
      'current-context': 'bench',
    }),
  );
  return { kubeconfig, close: () => server.close() };
}

function ownerOf(kind: string, owner: KubeObject) {
  return {
    apiVersion: 'apps/v1',
    kind,
    name: owner.metadata?.name ?? '',
    uid: owner.metadata?.uid ?? '',
    controller: true,
  };
}

const residentMib = (child: ChildProcess, key: 'VmRSS' | 'VmHWM'): number => {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return (Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / MIB;
};

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}

async function measureOperator(kubeconfig: string) {
  const child = spawn(process.execPath, [join(root, 'bin/stowage.mjs'), '--kubeconfig', kubeconfig, 'operator'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      SPOTALIS_WEBHOOK_ENABLED: 'false',
      SPOTALIS_METRICS_BIND_ADDRESS: '127.0.0.1:18080',
      SPOTALIS_HEALTH_BIND_ADDRESS: '127.0.0.1:18081',
      SPOTALIS_CONTROLLERS_RECONCILE_INTERVAL: '5s',
    },
  });
  child.stdout?.resume();
  for (;;) {
    await delay(200);
    if (child.exitCode !== null) throw new Error('the operator ended');
    const answer = await fetch('http://127.0.0.1:18081/readyz').catch(() => undefined);
    if (answer?.ok) break;
  }
  // Two passes, and time for the garbage of the first listing to go.
  await delay(15_000);
  const figures = { rss: residentMib(child, 'VmRSS'), peak: residentMib(child, 'VmHWM') };
  await stop(child);
  return figures;
}

async function measureWhole(kubeconfig: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../whole-objects.ts'), kubeconfig], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((done) => child.stdout?.once('data', done));
  const figures = { rss: residentMib(child, 'VmRSS') };
  await stop(child);
  return figures;
}

/** Heap per pod record, by the difference two sizes of the same world make. */
function heapPerPod(): number {
  const heapOf = (pods: number): [number, unknown] => {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    const world = createBenchWorld({ pods, podsPerWorkload: 10, nodes: 100 });
    globalThis.gc?.();
    return [process.memoryUsage().heapUsed - before, world];
  };
  heapOf(100);
  const [small, keepSmall] = heapOf(1000);
  const [large, keepLarge] = heapOf(11_000);
  if (keepSmall === keepLarge) throw new Error('unreachable: both worlds are kept until here');
  return (large - small) / 10_000;
}

const figures: Record<string, number> = { heap_bytes_per_pod: heapPerPod() };
const folder = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
try {
  for (const [pods, nodes] of [
    [1000, 50],
    [10_000, 500],
  ] as const) {
    const cluster = await serveCluster(pods, nodes, folder);
    const operator = await measureOperator(cluster.kubeconfig);
    const whole = await measureWhole(cluster.kubeconfig);
    await cluster.close();
    figures[`operator_rss_${pods}_pods_mb`] = operator.rss;
    figures[`operator_peak_rss_${pods}_pods_mb`] = operator.peak;
    figures[`whole_objects_rss_${pods}_pods_mb`] = whole.rss;
    figures[`operator_to_whole_objects_${pods}_pods_ratio`] = operator.rss / whole.rss;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const result: BenchResult = {
  name: 'memory',
  figures,
  bars: [
    { key: 'operator_rss_10000_pods_mb', op: '<=', value: 100 },
    { key: 'heap_bytes_per_pod', op: '<=', value: 1024 },
  ],
};
console.log(JSON.stringify(result));

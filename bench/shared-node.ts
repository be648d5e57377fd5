/** A cluster of one node with a handful of pods under load, its kubelet and their control groups, for processes that are measured from outside. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFakeTree, type FakePod, type GroupFigures } from '../src/agent/testing/fake-tree.ts';
import type { Deployment } from '../src/api/core.ts';
import { customResourceDefinition } from '../src/api/crd/crd.ts';
import { crdDescriptions } from '../src/api/crd/crds.ts';
import { resources } from '../src/api/resources.ts';
import { createCluster } from '../src/cluster/cluster.ts';
import type { NodeUsage } from '../src/cluster/kubelet/node-usage.ts';
import type { ContainerUsage } from '../src/cluster/load/container-usage.ts';
import { createAuthority, issueServerCertificate } from '../src/lib/certificates.ts';
import { type Clock, createSystemClock, sleep } from '../src/lib/clock.ts';
import { createSilentLogger } from '../src/lib/log.ts';
import { createSystemRandom } from '../src/lib/random.ts';

export const SHARED_NODE = 'worker-1';
const NAMESPACE = 'shop';
const MICROS = 1_000_000;
const callers = ['operator', 'agent'] as const;
/** Whose requests are told apart, by their tokens. */
export type SharedNodeCaller = (typeof callers)[number];

export interface SharedPodLoad {
  readonly name: string;
  readonly request: string;
  /** A curve of cluster/load/pod-load.ts. */
  readonly cpu: string;
}

/** Paths and addresses to start operator and agent with. */
export interface SharedNode {
  /** Of the operator. */
  readonly kubeconfig: string;
  /** Folder of the agent's service account. */
  readonly account: string;
  readonly port: string;
  readonly cgroupRoot: string;
  readonly procRoot: string;
  /** What a caller has asked of the API so far. */
  requestsOf(caller: SharedNodeCaller): number;
  close(): Promise<void>;
}

/**
 * Resolves when all pods run; their control groups follow what they use from then on.
 * @param folder for the files callers read: kubeconfig, service account.
 */
export async function serveSharedNode(loads: readonly SharedPodLoad[], folder: string): Promise<SharedNode> {
  const clock = createSystemClock();
  const cluster = createCluster({
    clock,
    random: createSystemRandom(),
    log: createSilentLogger(),
    nodes: [{ name: SHARED_NODE, cpuMillis: 1800, memoryBytes: 8 * 1024 ** 3 }],
    kubelet: { load: { stepMillis: 1000 } },
    metricsServer: {},
  });
  const { server } = cluster;
  const stopper = new AbortController();
  await cluster.start(stopper.signal);
  for (const name of [NAMESPACE, 'mbcas-system', 'spotalis-system'])
    await cluster.api.create(resources.namespaces, { metadata: { name } });
  await cluster.apply(crdDescriptions.map(customResourceDefinition));
  for (const load of loads)
    await cluster.api.create(resources.deployments, deploymentOf(load), { namespace: NAMESPACE });
  const tree = createFakeTree({ version: 2, driver: 'systemd', runtime: 'containerd' });
  const following = followUsage({
    clock,
    usage: () => cluster.kubelet.usage(SHARED_NODE),
    signal: stopper.signal,
    write: createGroupWriter(tree),
  });
  const areRunning = () => cluster.kubelet.usages(SHARED_NODE).length >= loads.length;
  while (!areRunning()) await sleep(clock, 100);

  const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 86_400_000 };
  const authority = await createAuthority({ commonName: 'bench', ...validity });
  const leaf = await issueServerCertificate(authority, { commonName: 'api', ipAddresses: ['127.0.0.1'], ...validity });
  for (const caller of callers) server.authentication.addToken(caller, { name: caller, groups: ['system:masters'] });
  const { url } = await server.listen({ tls: { cert: leaf.certificatePem, key: leaf.privateKeyPem } });
  return {
    kubeconfig: writeKubeconfig(folder, url, authority.certificatePem),
    account: writeAccount(folder, authority.certificatePem),
    port: new URL(url).port,
    cgroupRoot: tree.mount,
    procRoot: tree.proc,
    requestsOf: (caller) =>
      server.accessLog
        .entries()
        .filter(({ user }) => user === caller)
        .reduce((sum, { count }) => sum + count, 0),
    async close() {
      stopper.abort();
      await following;
      await cluster.stop();
      tree.close();
    },
  };
}

function deploymentOf({ name, request, cpu }: SharedPodLoad): Deployment {
  return {
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, annotations: { 'stowage.test/cpu': cpu } },
        spec: {
          containers: [
            { name: 'app', image: 'example.test/app:1', resources: { requests: { cpu: request, memory: '64Mi' } } },
          ],
        },
      },
    },
  };
}

interface Following {
  readonly clock: Clock;
  readonly usage: () => NodeUsage | undefined;
  readonly write: (usage: NodeUsage) => void;
  readonly signal: AbortSignal;
}

/** The kernel counts all the time; for readers that look each second, five times a second is as good. */
async function followUsage({ clock, usage, write, signal }: Following): Promise<void> {
  while (!signal.aborted) {
    const now = usage();
    if (now !== undefined) write(now);
    await sleep(clock, 200, signal).catch(() => {});
  }
}

function createGroupWriter(tree: ReturnType<typeof createFakeTree>): (usage: NodeUsage) => void {
  const known = new Map<string, FakePod>();
  return ({ containers, cpuSeconds }) => {
    for (const usage of containers) {
      const { pod, container } = usage;
      const uid = pod.metadata?.uid ?? '';
      const [status] = pod.status?.containerStatuses ?? [];
      const id = status?.containerID?.replace(/^.*:\/\//, '');
      if (id === undefined) continue;
      const fake = known.get(uid) ?? { uid, qos: 'burstable' as const, containers: { [container.name]: id } };
      if (!known.has(uid)) tree.add(fake);
      known.set(uid, fake);
      for (const group of [undefined, container.name]) tree.set(fake, group, figuresOf(usage));
    }
    tree.setTop({ usageMicros: Math.round(cpuSeconds * MICROS) });
    tree.setRoot({ usageMicros: Math.round(containers.reduce((sum, each) => sum + each.cpuSeconds, 0) * MICROS) });
  };
}

function figuresOf(usage: ContainerUsage): GroupFigures {
  return {
    usageMicros: Math.round(usage.cpuSeconds * MICROS),
    periods: Math.round(usage.periods),
    throttledPeriods: Math.round(usage.throttledPeriods),
    throttledMicros: Math.round(usage.throttledSeconds * MICROS),
    pressureMicros: Math.round(usage.waitingSeconds * MICROS),
  };
}

function writeKubeconfig(folder: string, server: string, authority: string): string {
  const path = join(folder, 'kubeconfig');
  const cluster = { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster }],
    users: [{ name: 'bench', user: { token: 'operator' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

function writeAccount(folder: string, authority: string): string {
  const account = join(folder, 'account');
  mkdirSync(account, { recursive: true });
  writeFileSync(join(account, 'token'), 'agent');
  writeFileSync(join(account, 'namespace'), 'mbcas-system');
  writeFileSync(join(account, 'ca.crt'), authority);
  return account;
}

/** What documented commands expect around them: a cluster with workloads, an operator at work on it, a node's control groups, and files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createProfileStore } from '../../src/act/save-profiles.ts';
import { createFakeTree, type FakeTree } from '../../src/agent/testing/fake-tree.ts';
import type { KubeObject, Pod } from '../../src/api/core.ts';
import { customResourceDefinition } from '../../src/api/crd/crd.ts';
import { crdDescriptions } from '../../src/api/crd/crds.ts';
import { COMPONENT_LABEL, NODE_LABEL, type PodAllocation, podAllocations } from '../../src/api/pod-allocation.ts';
import { apiVersionOf, resources } from '../../src/api/resources.ts';
import type { CliIo, Terminal } from '../../src/cli/cli-context.ts';
import type { StartOperator } from '../../src/cli/operator-port.ts';
import { runCli } from '../../src/cli/program.ts';
import { type Cluster, createCluster } from '../../src/cluster/cluster.ts';
import { testDeployment, testStatefulSet } from '../../src/cluster/testing/virtual-cluster.ts';
import { createAuthority, issueServerCertificate } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSeededRandom } from '../../src/lib/random.ts';
import { eventually } from '../../src/lib/testing/eventually.ts';
import type { SavedUsage } from '../../src/model/saved-usage.ts';
import { aSizedWorkload } from '../../src/model/testing/sizing-records.ts';
import { aBook, aSeries, HOUR, usageSettings } from '../../src/model/testing/usage.ts';
import { podMetricsType } from '../../src/observe/usage/metrics-server-source.ts';
import { startOperator } from '../../src/wire.ts';
import { findFreePorts } from '../controlplane/ports.ts';
import { dumpOf, writeFiles } from './documented-files.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface DocumentedWorld {
  readonly folder: string;
  /** Metrics port of the operator that runs all the time. */
  readonly operatorUrl: string;
  readonly cgroups: FakeTree;
  /** A port of loopback that nobody listens on. */
  freePort(): Promise<number>;
  /**
   * Runs a command line as a user would in the folder of the files.
   * @param until of a command that does not end by itself: resolves when it has done enough; gets what it prints.
   */
  run(words: readonly string[], until?: (stdout: () => string) => Promise<unknown>): Promise<Ran>;
  stop(): Promise<void>;
}

/** Node of docs/agent.md and docs/cli.md. */
const NODE = 'worker-1';
const GIB = 1024 ** 3;
const LOOPBACK = { host: '127.0.0.1', port: 0 };
const QUICK = { startMillis: 10, readyMillis: 10, stopMillis: 10, jitter: 0 };
const enabled = { 'spotalis.io/enabled': 'true' };
const clock = createSystemClock();
const { signal } = new AbortController();

/** @param helmFolder on the PATH of commands, where there is helm. */
export async function startDocumentedWorld(helmFolder: string | undefined): Promise<DocumentedWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-documented-'));
  const random = createSeededRandom(1);
  const cluster = await startCluster();
  const { api } = cluster;
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigText((await cluster.server.listen()).url));
  const usage = someUsage();
  for (const namespace of ['spotalis-system', 'stowage-system'])
    await createProfileStore({ api, namespace, isLeader: () => true, log: createSilentLogger() }).save(usage, signal);
  await writeFiles({ folder, api, usage });
  const stdin = await dumpOf(api);
  const cgroups = createFakeTree({ version: 2, driver: 'systemd', runtime: 'containerd' });
  const env = {
    KUBECONFIG: kubeconfig,
    HOME: folder,
    NODE_NAME: NODE,
    PATH: [helmFolder, process.env['PATH']].filter((part) => part !== undefined).join(':'),
    SPOTALIS_LOGGING_LEVEL: 'error',
  };
  const keyPair = await webhookKeyPair();

  /** The real operator; only the ports are any that are free, and it must leave the cluster as it is. */
  const startsOn =
    (onStarted: (operator: Awaited<ReturnType<StartOperator>>) => void): StartOperator =>
    async (options) => {
      const { operator, observability, web, webhook } = options.config;
      const config = {
        ...options.config,
        // Commands that compute for long run in the same process: it must not lose its Lease to that.
        operator: {
          ...operator,
          readOnlyMode: true,
          leaderElection: { ...operator.leaderElection, leaseDuration: 600_000, renewDeadline: 500_000 },
        },
        webhook: { ...webhook, port: 0 },
        web: { ...web, bindAddress: LOOPBACK },
        observability: {
          ...observability,
          metrics: { ...observability.metrics, bindAddress: LOOPBACK },
          health: { ...observability.health, bindAddress: LOOPBACK },
        },
      };
      const started = await startOperator({ ...options, config, keyPair, webhookHost: LOOPBACK.host });
      onStarted(started);
      return started;
    };

  async function launch(
    words: readonly string[],
    start: StartOperator,
    stop: AbortController,
    until: (stdout: () => string) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<Ran> {
    const printed = { out: '', err: '' };
    const terminal = (stream: 'out' | 'err'): Terminal => ({
      write: (text) => {
        printed[stream] += text;
      },
      isTerminal: false,
      size: () => undefined,
    });
    const out = terminal('out');
    const io: CliIo = {
      out,
      err: terminal('err'),
      readStdin: async () => stdin,
      env,
      clock,
      random,
      signal: stop.signal,
    };
    const running = runCli(words, { io, version: '1.2.3', startOperator: start });
    // What ends by itself, by a mistake say, is not waited for.
    const enough = until(() => printed.out);
    enough.catch(() => {});
    await Promise.race([enough, running]);
    return { code: await running, stdout: printed.out, stderr: printed.err };
  }

  const { promise: metricsPort, resolve: onPort, reject: onFailure } = Promise.withResolvers<number>();
  const standingStop = new AbortController();
  const standing = launch(
    ['operator'],
    startsOn(({ ports, synced }) => void synced.then(() => onPort(ports.metrics ?? 0), onFailure)),
    standingStop,
  );
  standing.then(({ stderr }) => onFailure(new Error(`the operator has ended: ${stderr}`)), onFailure);
  const operatorUrl = `http://127.0.0.1:${await metricsPort}`;

  return {
    folder,
    operatorUrl,
    cgroups,
    freePort: async () => (await findFreePorts(1))[0] ?? 0,
    async run(words, until) {
      const stop = new AbortController();
      const start =
        words[0] === 'operator'
          ? startsOn(({ synced }) => void synced.catch(() => {}).then(() => stop.abort()))
          : startOperator;
      const enough =
        until === undefined ? undefined : (stdout: () => string) => until(stdout).finally(() => stop.abort());
      return await launch(words, start, stop, enough);
    },
    async stop() {
      standingStop.abort();
      await standing;
      await cluster.stop();
      cgroups.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Two nodes of each side, a Deployment that is not as it should be, a StatefulSet, and a policy. */
async function startCluster(): Promise<Cluster> {
  const node = (name: string, side: string) => ({
    name,
    cpuMillis: 8000,
    memoryBytes: 32 * GIB,
    labels: { 'karpenter.sh/capacity-type': side, 'node.kubernetes.io/instance-type': 'm5.xlarge' },
  });
  const cluster = createCluster({
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    nodes: [node(NODE, 'on-demand'), node('worker-2', 'on-demand'), node('worker-3', 'spot'), node('worker-4', 'spot')],
    kubelet: { behaviour: QUICK },
    metricsServer: { resolutionMillis: 100 },
  });
  await cluster.start(signal);
  const shared = { 'mbcas.io/managed': 'true' };
  const namespace = (name: string, labels = {}) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });
  const placed = (object: KubeObject, name: string, spotPercentage: number): KubeObject => ({
    ...object,
    metadata: {
      name: object.metadata?.name ?? '',
      namespace: name,
      labels: enabled,
      annotations: { 'spotalis.io/spot-percentage': String(spotPercentage) },
    },
  });
  const policy = {
    apiVersion: 'optipod.io/v1alpha1',
    kind: 'OptimizationPolicy',
    metadata: { name: 'shop', namespace: 'shop' },
    spec: {
      mode: 'Recommend',
      selector: { namespaces: { allow: ['shop'] } },
      metricsConfig: { provider: 'metrics-server' },
      resourceBounds: { cpu: { min: '10m', max: '4' }, memory: { min: '32Mi', max: '8Gi' } },
      updateStrategy: {},
    },
  };
  const objects = [
    ...crdDescriptions.map(customResourceDefinition),
    ...['shop', 'data'].map((name) => namespace(name, { ...enabled, ...shared })),
    ...['spotalis-system', 'stowage-system', 'mbcas-system'].map((name) => namespace(name)),
    placed(testDeployment('web', { replicas: 6 }), 'shop', 100),
    placed(testStatefulSet('db', { replicas: 2 }), 'data', 0),
  ];
  for (const part of [objects, [policy]]) expect((await cluster.apply(part)).problems).toEqual([]);
  await eventually(async () => {
    const { items } = await cluster.api.list(resources.pods);
    expect((await cluster.api.list(podMetricsType)).items).not.toEqual([]);
    const ready = items.filter(({ status }) =>
      status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
    );
    expect(ready).toHaveLength(8);
  });
  const { items } = await cluster.api.list<Pod>(resources.pods, { namespace: 'shop' });
  for (const pod of items) await cluster.api.create(podAllocations, allocationOf(pod), { namespace: 'shop' });
  return cluster;
}

/** What the agent of a node would ask for one of its pods. */
function allocationOf({ metadata, spec }: Pod): PodAllocation {
  const [uid = '', podName = '', nodeName = ''] = [metadata?.uid, metadata?.name, spec?.nodeName];
  return {
    apiVersion: apiVersionOf(podAllocations),
    kind: podAllocations.kind,
    metadata: { name: uid, labels: { [NODE_LABEL]: nodeName, [COMPONENT_LABEL]: 'agent' } },
    spec: {
      namespace: 'shop',
      podName,
      podUID: uid,
      nodeName,
      desiredCPURequest: '150m',
      desiredCPULimit: '2',
      originalCPURequest: '100m',
      renewTime: new Date(clock.now()).toISOString(),
    },
  };
}

/** Contexts that the documentation names lead to the same cluster. */
function kubeconfigText(server: string): string {
  const contexts = ['here', 'staging', 'new'].map((name) => ({ name, context: { cluster: 'here', user: 'me' } }));
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts,
    clusters: [{ name: 'here', cluster: { server } }],
    users: [{ name: 'me', user: {} }],
  });
}

function someUsage(): SavedUsage[] {
  const book = aBook();
  const series = [aSeries('app', { cpu: [[HOUR, 5]], memory: [[HOUR, 5]] })];
  const taken = { series, readTo: { cpu: HOUR }, startedAt: () => undefined };
  book.take(aSizedWorkload({ name: 'web' }), usageSettings(), taken, HOUR);
  return [...book.save()].flat();
}

async function webhookKeyPair() {
  const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 86_400_000 };
  const authority = await createAuthority({ commonName: 'documented', ...validity });
  const leaf = await issueServerCertificate(authority, { commonName: 'webhook', dnsNames: ['localhost'], ...validity });
  return { cert: leaf.certificatePem, key: leaf.privateKeyPem };
}

/** Allocation on either API server: the operator in this process, two nodes whose kubelet is played by hand, an agent on one of them. */
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { expect, inject, vi } from 'vitest';
import { createAgent } from '../../src/agent/agent.ts';
import { createAgentMetrics } from '../../src/agent/metrics-text.ts';
import type { Deployment, Pod } from '../../src/api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../../src/api/crd/crd.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { type PodAllocation, podAllocations } from '../../src/api/pod-allocation.ts';
import { podAllocationDescription } from '../../src/api/pod-allocation-schema.ts';
import { resources } from '../../src/api/resources.ts';
import { createCluster } from '../../src/cluster/cluster.ts';
import { loadConfig } from '../../src/config/load.ts';
import { loadConnection } from '../../src/kube/auth/load-connection.ts';
import { createKubeApi } from '../../src/kube/client.ts';
import { type Clock, createSystemClock, sleep } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSystemRandom } from '../../src/lib/random.ts';
import { startOperator } from '../../src/wire.ts';
import { parseMetrics, sumOf } from '../cluster/metrics-text.ts';
import { createNode, createStandInKubelets, nodeConditions } from './allocation-nodes.ts';
import { createLoadSampler, startPrometheus } from './allocation-stand-ins.ts';
import { type Blindness, type SeenResizes, watchedApi } from './watched-api.ts';

export interface AllocationWorld {
  readonly api: KubeApi;
  readonly clock: Clock;
  /** With an agent, and without: there a test writes the wishes. Zones `a` and `b` of this run. */
  readonly nodes: { readonly agent: string; readonly plain: string };
  readonly zones: { readonly a: string; readonly b: string };
  namespace(): Promise<string>;
  deploy(namespace: string, fields: DeployFields): Promise<readonly Pod[]>;
  /** What a pod of this workload uses from now on. */
  load(namespace: string, app: string, millicores: number): void;
  setReady(namespace: string, app: string, isReady: boolean): Promise<void>;
  setConditions(node: string, conditions: Readonly<Record<string, 'True' | 'False'>>): Promise<void>;
  allocation(namespace: string, podName: string): Promise<PodAllocation | undefined>;
  pods(namespace: string, app: string): Promise<Pod[]>;
  /** What the fake Prometheus answers for every pod; undefined: nothing. */
  setMetric(value: number | undefined): void;
  readonly configNamespace: string;
  /** Resizes of the operator, and those that were refused. */
  readonly resizes: { sent: number; readonly refused: string[] };
  /** Resolves when the agent has made so many more plans. */
  planned(times: number): Promise<void>;
  /** Resolves when one more thing was held back or moved for this reason in a plan of the agent. */
  clamped(reason: string): Promise<void>;
  /** While true, what the operator reads of quotas is nothing. */
  blind: { quotas: boolean };
  eventually<T>(assertion: () => Promise<T>): Promise<T>;
  /** Takes away every workload, and waits until its pods are gone. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export interface DeployFields {
  readonly app: string;
  readonly node: string;
  readonly replicas?: number;
  readonly cpu?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
  readonly limit?: string;
}

const log = createSilentLogger();

async function connect(clock: Clock): Promise<{ api: KubeApi; close(): Promise<void> }> {
  const access = inject('cluster');
  const random = createSystemRandom();
  if (access === undefined) {
    const cluster = createCluster({ clock, random, log });
    await cluster.start(new AbortController().signal);
    return { api: cluster.api, close: () => cluster.stop() };
  }
  const connection = await loadConnection({
    kubeconfig: access.kubeconfigPath,
    env: {},
    homeDirectory: homedir(),
    clock,
  });
  const api = createKubeApi({ connection, clock, random, log });
  return { api, close: async () => api.close() };
}

export async function startAllocationWorld(): Promise<AllocationWorld> {
  const clock = createSystemClock();
  const random = createSystemRandom();
  const { api, close } = await connect(clock);
  const stopper = new AbortController();
  const run = randomBytes(4).toString('hex');
  const nodes = { agent: `alloc-agent-${run}`, plain: `alloc-plain-${run}` };
  const zones = { a: `a-${run}`, b: `b-${run}` };
  const configNamespace = `alloc-system-${run}`;
  const made: string[] = [configNamespace];
  const unready = new Set<string>();
  const loads = new Map<string, number>();
  let metric: number | undefined;
  const resizes: SeenResizes = { sent: 0, refused: [] };
  const blind: Blindness = { quotas: false };
  const eventually: AllocationWorld['eventually'] = (assertion) =>
    vi.waitFor(assertion, { timeout: 100_000, interval: 100 });

  const definition = customResourceDefinition(podAllocationDescription);
  await api.patch(
    customResourceDefinitions,
    definition.metadata.name,
    { type: 'apply', body: definition, force: true },
    { fieldManager: 'e2e' },
  );
  await eventually(() => api.list(podAllocations));
  await api.create(resources.namespaces, { metadata: { name: configNamespace } });
  await createNode(api, nodes.agent, zones.a);
  await createNode(api, nodes.plain, zones.b);

  const kubelets = createStandInKubelets({
    api,
    clock,
    random,
    log,
    nodes: Object.values(nodes),
    isReady: (pod) => !unready.has(keyOf(pod)),
  });

  const prometheus = await startPrometheus(() => metric, loads);
  const metrics = createAgentMetrics();
  const agent = createAgent({
    api,
    nodeName: nodes.agent,
    namespace: configNamespace,
    cgroupRoot: '',
    procRoot: '',
    sampler: createLoadSampler(loads, () => clock.now()),
    isObserving: false,
    env: {
      MBCAS_SAMPLING_INTERVAL: '200ms',
      MBCAS_FAST_LOOP_INTERVAL: '500ms',
      MBCAS_STARTUP_GRACE_PERIOD: '0s',
      MBCAS_PROMETHEUS_URL: prometheus.url,
      STOWAGE_ALLOCATION_SPACING_UP: '500ms',
      STOWAGE_ALLOCATION_SPACING_DOWN: '500ms',
      STOWAGE_ALLOCATION_WRITES_PER_MINUTE: '60',
      STOWAGE_ALLOCATION_CEILINGS: 'none',
    },
    clock,
    monotonic: () => clock.now(),
    random,
    log,
    metrics,
  });
  const { config } = loadConfig({
    text: [
      'engines: { allocation: true }',
      `operator: { namespace: ${configNamespace}, leaderElection: { id: alloc-${run} } }`,
      'allocation: { warmUp: 0s, spacingUp: 500ms, spacingDown: 500ms, staleAfter: 30m, topologySpread: true, spreadCeiling: true, nodeAffinity: true }',
    ].join('\n'),
    fileName: 'test.yaml',
    env: {
      SPOTALIS_WEBHOOK_ENABLED: 'false',
      SPOTALIS_METRICS_ENABLED: 'false',
      SPOTALIS_HEALTH_ENABLED: 'false',
      SPOTALIS_WEB_ENABLED: 'false',
    },
  });
  const operator = await startOperator({
    config,
    api: watchedApi(api, resizes, blind),
    clock,
    random,
    log,
    identity: `test-${run}`,
  });
  const running = Promise.all([agent.run(stopper.signal), kubelets.run(stopper.signal)]);

  const pods: AllocationWorld['pods'] = async (namespace, app) => {
    const { items } = await api.list(resources.pods, { namespace, labelSelector: `app=${app}` });
    return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  };
  const untilCounted = async (name: string, labels: Readonly<Record<string, string>>, more: number): Promise<void> => {
    const count = (): number => sumOf(parseMetrics(metrics.render()), name, labels);
    const before = count();
    await eventually(async () => expect(count()).toBeGreaterThanOrEqual(before + more));
  };
  const untilEmpty = async (namespace: string): Promise<void> => {
    if ((await api.list(resources.pods, { namespace })).items.length > 0) throw new Error('pods remain');
  };
  return {
    api,
    clock,
    nodes,
    zones,
    configNamespace,
    resizes,
    blind,
    eventually,
    pods,
    async namespace() {
      const name = `alloc-${randomBytes(4).toString('hex')}`;
      await api.create(resources.namespaces, { metadata: { name, labels: { 'mbcas.io/managed': 'true' } } });
      made.push(name);
      return name;
    },
    async deploy(namespace, fields) {
      await api.create(resources.deployments, deploymentOf(fields), { namespace });
      const { app, replicas = 1 } = fields;
      return await eventually(async () => {
        const found = (await pods(namespace, app)).filter(({ status }) => status?.phase === 'Running');
        if (found.length !== replicas) throw new Error(`${found.length} of ${replicas} pods run`);
        return found;
      });
    },
    load: (namespace, app, millicores) => void loads.set(`${namespace}/${app}`, millicores),
    async setReady(namespace, app, isReady) {
      if (isReady) unready.delete(`${namespace}/${app}`);
      else unready.add(`${namespace}/${app}`);
      for (const pod of await pods(namespace, app)) await kubelets.report(pod);
    },
    async setConditions(node, conditions) {
      const body = { status: { conditions: nodeConditions(conditions) } };
      await api.patch(resources.nodes, node, { type: 'merge', body }, { subresource: 'status' });
    },
    async allocation(namespace, podName) {
      const { items } = await api.list(podAllocations, { namespace });
      return items.find(({ spec }) => spec?.podName === podName);
    },
    planned: (times) => untilCounted('mbcas_agent_step_duration_seconds_count', { loop: 'plan' }, times),
    clamped: (reason) => untilCounted('mbcas_clamp_total', { reason }, 1),
    setMetric(value) {
      metric = value;
    },
    async clear() {
      loads.clear();
      unready.clear();
      for (const namespace of made) {
        const { items } = await api.list(resources.deployments, { namespace });
        for (const { metadata } of items) {
          await api.delete(resources.deployments, metadata?.name ?? '', { namespace });
        }
      }
      for (const namespace of made) await eventually(() => untilEmpty(namespace));
    },
    async stop() {
      await operator.stop();
      for (const name of made) await api.delete(resources.namespaces, name).catch(() => {});
      // The kubelets confirm the end of the pods.
      for (const namespace of made) {
        await eventually(() => untilEmpty(namespace));
      }
      stopper.abort();
      await running;
      for (const name of Object.values(nodes)) await api.delete(resources.nodes, name);
      prometheus.server.close();
      await close();
    },
  };
}

const keyOf = ({ metadata }: Pod): string => `${metadata?.namespace}/${metadata?.labels?.['app']}`;

function deploymentOf({
  app,
  node,
  replicas = 1,
  cpu = '200m',
  annotations = {},
  spec = {},
  limit,
}: DeployFields): Deployment {
  const amounts = { requests: { cpu, memory: '32Mi' }, ...(limit !== undefined && { limits: { cpu: limit } }) };
  return {
    metadata: { name: app },
    spec: {
      replicas,
      selector: { matchLabels: { app } },
      template: {
        metadata: { labels: { app }, annotations: { ...annotations } },
        spec: {
          nodeSelector: { 'kubernetes.io/hostname': node },
          tolerations: [{ operator: 'Exists' }],
          containers: [{ name: 'app', image: 'example.test/app:1', resources: amounts }],
          ...spec,
        },
      },
    },
  };
}

/** Real time: of what is to stay as it is, it is seen for so long. */
export const pause = (clock: Clock, millis: number): Promise<void> => sleep(clock, millis);

/** A cluster and the operator on it in one process and in virtual time, with the webhook registered as deploy/webhook.yaml says. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Deployment, KubeObject, Pod, StatefulSet } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import type { ApiServer } from '../../cluster/apiserver/api-server.ts';
import type { NodePool } from '../../cluster/autoscaler/node-pool.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { loadConfig } from '../../config/load.ts';
import { createSilentLogger, type Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { createSeededRandom } from '../../lib/random.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { createVirtualClock, type VirtualClock } from '../../lib/virtual-clock.ts';
import { tellByNodeClocks } from '../../simulator/node-clocks.ts';
import type { ObservedWrite } from '../../simulator/watched-api.ts';
import { createWorld, STEP_MILLIS } from '../../simulator/world.ts';
import { type Operator, startOperator } from '../../wire.ts';

export interface WorldOptions {
  /** Nodes of 16 cores by side. Default 4 each. */
  readonly spotNodes?: number;
  readonly onDemandNodes?: number;
  /** Pools an autoscaler makes nodes from. Names begin with the side. Default none. */
  readonly pools?: readonly NodePool[];
  /** YAML of the operator's configuration, besides what makes it quiet in a test. */
  readonly config?: string;
  readonly seed?: number;
  /** Serves metrics.k8s.io from what pods use; looked at this often. Default: it is not served. */
  readonly metricsEveryMillis?: number;
  /** From a kubelet's accepting a resize to its having done it. Default 45 ms. */
  readonly resizeMillis?: number;
  /** Called before each write of the operator reaches the server; what it throws is the answer. */
  readonly onWrite?: (write: ObservedWrite) => void;
  /** The webhook is neither served nor registered: pods are admitted as they come. Default: the operator is asked. */
  readonly isWebhookOff?: boolean;
  /** The operator serves its dashboard on a free port. Default: not. */
  readonly dashboard?: boolean;
  /** Where the operator's metrics go. Default: nowhere to be seen. */
  readonly metrics?: Metrics;
  /** Default: nothing is logged. */
  readonly log?: Logger;
  /** How far the clocks of all nodes are ahead of the others; negative is behind. Default: they agree. */
  readonly nodesAheadMillis?: number | undefined;
  /** When it begins. Default 2026-01-31 12:00 UTC. */
  readonly startAt?: EpochMillis;
  /** Objects created before anything runs; with them RBAC is enforced, and the operator is this service account. */
  readonly rbac?: { readonly objects: readonly KubeObject[]; readonly user: string };
}

export interface EmbeddedWorld {
  readonly api: KubeApi;
  readonly clock: VirtualClock;
  readonly operator: () => Operator;
  readonly server: ApiServer;
  readonly cluster: Cluster;
  /** While false, pods are admitted without asking the operator, as with `failurePolicy: Ignore`. */
  setWebhookUp(isUp: boolean): void;
  /** Starts one more replica. Admissions go to the last one started that has not been stopped or cut off. */
  startOperator(identity?: string): Promise<Operator>;
  /** From now on the replica reaches neither the API server nor is it reached: as if its machine were gone. */
  cutOff(identity: string): void;
  /** Sets the clock of a replica's machine; negative is back. */
  setClock(identity: string, byMillis: number): void;
  /** Lets time pass in steps until `done` holds; fails after `limitMillis`. */
  until(what: string, done: () => Promise<boolean> | boolean, limitMillis?: number): Promise<void>;
  /** Live pods by the side of the node they run on. */
  sides(namespace: string, app: string): Promise<{ spot: number; 'on-demand': number; pending: number }>;
  /** Evictions asked for so far, successful or not. */
  readonly evictions: string[];
  /** Writes of the operator so far: verb and resource. */
  readonly operatorWrites: string[];
  stop(): Promise<void>;
}

const CAPACITY = 'karpenter.sh/capacity-type';

/** Reads a file of deploy/ as objects. */
export function readManifests(name: string): readonly KubeObject[] {
  const text = readFileSync(new URL(`../../../deploy/${name}`, import.meta.url), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

export async function createEmbeddedWorld(options: WorldOptions = {}): Promise<EmbeddedWorld> {
  const { rbac, spotNodes = 4, onDemandNodes = 4, nodesAheadMillis } = options;
  const clock = createVirtualClock(options.startAt ?? Date.UTC(2026, 0, 31, 12));
  const evictions: string[] = [];
  const operatorWrites: string[] = [];
  const nodesOf = (side: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `${side}-${index}`,
      labels: { [CAPACITY]: side },
      cpuMillis: 16_000,
      memoryBytes: 64 * 1024 ** 3,
    }));
  const env = {
    SPOTALIS_WEBHOOK_ENABLED: 'false',
    SPOTALIS_METRICS_ENABLED: 'false',
    SPOTALIS_HEALTH_ENABLED: 'false',
    SPOTALIS_WEB_ENABLED: String(options.dashboard ?? false),
    SPOTALIS_WEB_BIND_ADDRESS: '127.0.0.1:0',
  };
  const { config } = loadConfig({ text: `${options.config ?? ''}\n`, fileName: 'test.yaml', env });
  const base = await createWorld({
    clock,
    random: createSeededRandom(options.seed ?? 1),
    log: options.log ?? createSilentLogger(),
    cluster: {
      nodes: [...nodesOf('spot', spotNodes), ...nodesOf('on-demand', onDemandNodes)],
      pools: options.pools ?? [],
      apiServer: { rbac: rbac !== undefined },
      ...(options.resizeMillis !== undefined && { kubelet: { resizeMillis: options.resizeMillis } }),
      ...(options.metricsEveryMillis !== undefined && {
        metricsServer: { resolutionMillis: options.metricsEveryMillis },
      }),
    },
    startOperator: (given) =>
      startOperator({
        ...given,
        isAskedDirectly: options.isWebhookOff !== true,
        ...(nodesAheadMillis !== undefined && { api: tellByNodeClocks(given.api, () => nodesAheadMillis) }),
        ...(options.metrics !== undefined && { metrics: options.metrics }),
      }),
    config,
    ...(rbac === undefined ? {} : { userOf: () => rbac.user }),
    observer: {
      onWrite(write) {
        const { verb, resource, name } = write;
        operatorWrites.push(`${verb} ${resource}`);
        options.onWrite?.(write);
        if (resource === 'pods/eviction') evictions.push(name);
        return undefined;
      },
    },
  });
  const { api, cluster, settled } = base;
  const settle = (): Promise<void> => clock.advance(STEP_MILLIS);
  const webhook = options.isWebhookOff === true ? [] : readManifests('webhook.yaml');
  await settled(cluster.apply([namespaceObject('spotalis-system'), ...webhook, ...(rbac?.objects ?? [])]));

  const world: EmbeddedWorld = {
    api,
    clock,
    evictions,
    operatorWrites,
    server: cluster.server,
    cluster,
    operator() {
      const operator = base.lastReplica();
      if (operator === undefined) throw new Error('The operator was not started.');
      return operator;
    },
    cutOff: base.cutOff,
    setClock: base.setClock,
    setWebhookUp: base.setWebhookUp,
    async startOperator(identity = 'test_1') {
      const operator = await base.startReplica(identity);
      await settle();
      return operator;
    },
    async until(what, done, limitMillis = 600_000) {
      for (let passed = 0; passed < limitMillis; passed += STEP_MILLIS) {
        if (await done()) return;
        await settle();
      }
      throw new Error(`Not within ${limitMillis / 1000} s of virtual time: ${what}`);
    },
    async sides(namespace, app) {
      const { items } = await api.list<Pod>(resources.pods, { namespace });
      const counts = { spot: 0, 'on-demand': 0, pending: 0 };
      for (const pod of items) {
        const isLive = pod.metadata?.deletionTimestamp === undefined && pod.status?.phase !== 'Failed';
        if (pod.metadata?.labels?.['app'] !== app || !isLive) continue;
        const isReady =
          pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
        const node = pod.spec?.nodeName ?? '';
        if (!isReady) counts.pending++;
        else if (node.startsWith('spot')) counts.spot++;
        else counts['on-demand']++;
      }
      return counts;
    },
    stop: base.stop,
  };
  return world;
}

export function namespaceObject(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { 'spotalis.io/enabled': 'true' } } };
}

interface WorkloadFields {
  readonly name: string;
  readonly replicas: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

export function deploymentObject({
  name,
  replicas,
  annotations = {},
  labels = { 'spotalis.io/enabled': 'true' },
}: WorkloadFields): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'shop', labels: { ...labels }, annotations: { ...annotations } },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: podTemplate(name) },
  };
}

export function statefulSetObject({
  name,
  replicas,
  annotations = {},
  labels = { 'spotalis.io/enabled': 'true' },
}: WorkloadFields): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'shop', labels: { ...labels }, annotations: { ...annotations } },
    spec: { replicas, serviceName: name, selector: { matchLabels: { app: name } }, template: podTemplate(name) },
  };
}

function podTemplate(app: string) {
  const requests = { cpu: '100m', memory: '64Mi' };
  return {
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'app', image: 'app:1', resources: { requests } }] },
  };
}

/** A cluster and the operator on it in one process and in virtual time; admissions go from the API straight to the handler. */
import type { Deployment, KubeObject, Pod, StatefulSet } from '../../api/core.ts';
import type { JsonPatchOperation, KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { type ApiServer, createApiServer } from '../../cluster/apiserver/api-server.ts';
import { applyJsonPatch } from '../../cluster/apiserver/patch-json.ts';
import { applyObjects } from '../../cluster/apply.ts';
import { createCaches } from '../../cluster/caches.ts';
import { createDeploymentController } from '../../cluster/controllers/deployment/deployment-controller.ts';
import { createDisruptionController } from '../../cluster/controllers/disruption-controller.ts';
import { createGarbageCollector } from '../../cluster/controllers/garbage-collector.ts';
import { createReplicaSetController } from '../../cluster/controllers/replica-set-controller.ts';
import { createStatefulSetController } from '../../cluster/controllers/stateful-set/stateful-set-controller.ts';
import { createKubelet } from '../../cluster/kubelet/kubelet.ts';
import { createScheduler } from '../../cluster/scheduler/scheduler.ts';
import type { StandInContext } from '../../cluster/stand-in.ts';
import { loadConfig } from '../../config/load.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock, type VirtualClock } from '../../lib/virtual-clock.ts';
import { type Operator, startOperator } from '../../wire.ts';

export interface WorldOptions {
  /** Nodes of 16 cores by side. Default 4 each. */
  readonly spotNodes?: number;
  readonly onDemandNodes?: number;
  /** YAML of the operator's configuration, besides what makes it quiet in a test. */
  readonly config?: string;
  readonly seed?: number;
  /** Objects created before anything runs; with them RBAC is enforced, and the operator is this service account. */
  readonly rbac?: { readonly objects: readonly KubeObject[]; readonly user: string };
}

export interface EmbeddedWorld {
  readonly api: KubeApi;
  readonly clock: VirtualClock;
  readonly operator: () => Operator;
  readonly server: ApiServer;
  /** While false, pods are admitted without asking the operator, as with `failurePolicy: Ignore`. */
  setWebhookUp(isUp: boolean): void;
  /** Starts one more replica. Admissions go to the last one started that has not been stopped or cut off. */
  startOperator(identity?: string): Promise<Operator>;
  /** From now on the replica reaches neither the API server nor is it reached: as if its machine were gone. */
  cutOff(identity: string): void;
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
const STEP_MILLIS = 250;

export async function createEmbeddedWorld(options: WorldOptions = {}): Promise<EmbeddedWorld> {
  const clock = createVirtualClock(Date.UTC(2026, 0, 31, 12));
  const random = createSeededRandom(options.seed ?? 1);
  const log = createSilentLogger();
  const { rbac } = options;
  const server = createApiServer({ clock, random, rbac: rbac !== undefined });
  const direct = server.client();
  const stopper = new AbortController();
  const evictions: string[] = [];
  const operatorWrites: string[] = [];
  const replicas = new Map<string, Operator>();
  const lost = new Set<string>();
  let isWebhookUp = true;
  const lastReplica = (): Operator | undefined => [...replicas].findLast(([identity]) => !lost.has(identity))?.[1];

  const api: KubeApi = {
    ...direct,
    async create(type, object, callOptions) {
      const isPod = type.plural === 'pods' && type.group === '';
      const operator = isPod && isWebhookUp ? lastReplica() : undefined;
      const admitted = operator === undefined ? object : await admit(operator, object, callOptions?.namespace ?? '');
      return direct.create(type, admitted, callOptions);
    },
  };
  const context: StandInContext = { api, caches: createCaches({ api, clock, random, log }), clock, random, log };
  const kubelet = createKubelet(context);
  const standIns = [
    createDeploymentController(context),
    createReplicaSetController(context),
    createStatefulSetController(context),
    createDisruptionController(context),
    createGarbageCollector(context),
    createScheduler(context),
    kubelet,
  ];
  const work = Promise.all([
    context.caches.run(stopper.signal),
    context.caches.synced().then(() => Promise.all(standIns.map((each) => each.run(stopper.signal)))),
  ]);
  const settle = (): Promise<void> => clock.advance(STEP_MILLIS);
  await settle();
  await direct.create(resources.namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'spotalis-system' },
  });
  await applyObjects(direct, server.core.registry.all(), rbac?.objects ?? []);
  for (const [side, count] of [
    ['spot', options.spotNodes ?? 4],
    ['on-demand', options.onDemandNodes ?? 4],
  ] as const) {
    for (let index = 0; index < count; index++) {
      const adding = kubelet.addNode({
        name: `${side}-${index}`,
        labels: { [CAPACITY]: side },
        cpuMillis: 16_000,
        memoryBytes: 64 * 1024 ** 3,
      });
      await settle();
      await adding;
    }
  }

  const operatorApiOf = (identity: string): KubeApi => {
    const own = rbac === undefined ? api : server.client({ user: rbac.user });
    const reach = (): void => {
      if (lost.has(identity)) throw new Error('connect ETIMEDOUT');
    };
    const write = (what: string): void => {
      reach();
      operatorWrites.push(what);
    };
    return {
      ...own,
      async get(type, name, callOptions) {
        reach();
        return own.get(type, name, callOptions);
      },
      async create(type, object, callOptions) {
        write(`create ${type.plural}`);
        return own.create(type, object, callOptions);
      },
      async patch(type, name, patch, callOptions) {
        write(`patch ${type.plural}`);
        return own.patch(type, name, patch, callOptions);
      },
      async replace(type, object, callOptions) {
        write(`replace ${type.plural}`);
        return own.replace(type, object, callOptions);
      },
      async createSubresource(type, name, subresource, body, callOptions) {
        write(`create ${type.plural}/${subresource}`);
        if (subresource === 'eviction') evictions.push(name);
        return own.createSubresource(type, name, subresource, body, callOptions);
      },
    };
  };

  const world: EmbeddedWorld = {
    api,
    clock,
    evictions,
    operatorWrites,
    server,
    operator() {
      const operator = lastReplica();
      if (operator === undefined) throw new Error('The operator was not started.');
      return operator;
    },
    cutOff: (identity) => void lost.add(identity),
    setWebhookUp(isUp) {
      isWebhookUp = isUp;
    },
    async startOperator(identity = 'test_1') {
      const text = `${options.config ?? ''}\n`;
      const env = {
        SPOTALIS_WEBHOOK_ENABLED: 'false',
        SPOTALIS_METRICS_ENABLED: 'false',
        SPOTALIS_HEALTH_ENABLED: 'false',
      };
      const { config } = loadConfig({ text, fileName: 'test.yaml', env });
      const operator = await startOperator({ config, api: operatorApiOf(identity), clock, random, log, identity });
      replicas.set(identity, operator);
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
      const { items } = await direct.list<Pod>(resources.pods, { namespace });
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
    async stop() {
      const stopping = Promise.all([...replicas.values()].map((operator) => operator.stop()));
      await clock.advance(30_000);
      await stopping;
      stopper.abort();
      await clock.advance(1_000);
      await work;
      server.close();
    },
  };
  return world;
}

async function admit<T extends KubeObject>(operator: Operator, object: T, namespace: string): Promise<T> {
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  // Unique per request, as the API server makes them.
  const uid = crypto.randomUUID();
  const request = { uid, operation: 'CREATE', kind, namespace, object };
  const review = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
  const { status, body } = await operator.admit(review);
  if (status !== 200) throw new Error(`The webhook answered ${status}: ${body}`);
  const { response } = JSON.parse(body) as { response: { patch?: string } };
  if (response.patch === undefined) return object;
  const patch = JSON.parse(Buffer.from(response.patch, 'base64').toString('utf8')) as JsonPatchOperation[];
  return applyJsonPatch(JSON.parse(JSON.stringify(object)), patch, {
    group: '',
    kind: 'Pod',
    name: '',
  }) as unknown as T;
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

/**
 * Allocation end to end on the real control plane: the operator as a process with its own rights, node agents, simulated kubelets
 * that resize by the rules, and everything that bounds a pod: a PriorityClass, a quota, a LimitRange, an autoscaler, a budget.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sizingKeys } from '../../src/api/annotations-sizing.ts';
import type { Deployment, Pod } from '../../src/api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../../src/api/crd/crd.ts';
import { podAllocations } from '../../src/api/pod-allocation.ts';
import { podAllocationDescription } from '../../src/api/pod-allocation-schema.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { createInformer } from '../../src/kube/informer.ts';
import { createSystemClock, sleep } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { tryParseMillicores } from '../../src/lib/quantity.ts';
import { createSystemRandom } from '../../src/lib/random.ts';
import { loopsFrom } from '../../src/simulator/simulated-agents.ts';
import { AGENT_USER, STOWAGE_USER } from '../controlplane/audit-policy.ts';
import { useOperatorWorld } from './operator-world.ts';
import { useRealCluster } from './real-cluster.ts';

const GIB = 1024 ** 3;
const NODE = `alloc-${randomBytes(3).toString('hex')}`;
const ALLOCATABLE = 2000;
const cluster = useRealCluster({
  nodes: [{ name: NODE, labels: { allocated: NODE }, cpuMillis: ALLOCATABLE, memoryBytes: 8 * GIB }],
});
/** Ticks every two seconds, which leaves a busy machine time to act on one before the next; the whole of the node may be shared out. */
const world = useOperatorWorld(cluster, {
  engines: { allocation: true },
  agentConfig: {
    samplingInterval: '500ms',
    fastLoopInterval: '2s',
    startupGracePeriod: '0s',
    'allocation.surplusShare': '1',
    'allocation.renewInterval': '5s',
  },
});

const priorityClasses: ResourceType = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
};
const priorityClass = `alloc-high-${NODE}`;
const originals = { web: '200m', hog: '900m', idle: '400m', scaled: '200m' } as const;
type App = keyof typeof originals;

const millis = (text: string | undefined): number => tryParseMillicores(text) ?? 0;
const requestOf = ({ spec }: Pod): number => millis(spec?.containers[0]?.resources?.requests?.['cpu']);

/** The largest of spec, allocated and actual: what scheduler and kubelet charge. */
function chargeOf({ spec, status }: Pod): number {
  return (spec?.containers ?? []).reduce((sum, { name, resources: asked }) => {
    const told = status?.containerStatuses?.find((each) => each.name === name);
    const all = [asked?.requests, told?.allocatedResources, told?.resources?.requests];
    return sum + Math.max(...all.map((list) => millis(list?.['cpu'])));
  }, 0);
}

let namespace = '';
/** Sum of the charges on the node at every event of the watch. */
const sums: number[] = [];
const stopper = new AbortController();
let watching: Promise<void> | undefined;

beforeAll(async () => {
  const { api, eventually, nodes } = cluster();
  const definition = customResourceDefinition(podAllocationDescription);
  const applied = { type: 'apply', body: definition, force: true } as const;
  await api.patch(customResourceDefinitions, definition.metadata.name, applied, { fieldManager: 'e2e' });
  await eventually(() => api.list(podAllocations));
  await api.create(priorityClasses, { metadata: { name: priorityClass }, value: 1_000_000 } as object);
  namespace = await cluster().namespace();
  const labels = { metadata: { labels: { 'mbcas.io/managed': 'true' } } };
  await api.patch(resources.namespaces, namespace, { type: 'merge', body: labels });
  await bound(namespace);

  const charges = new Map<string, number>();
  const informer = createInformer<Pod, Pod>({
    api,
    clock: createSystemClock(),
    random: createSystemRandom(),
    log: createSilentLogger(),
    type: resources.pods,
    project: (pod) => pod,
    selection: { fieldSelector: `spec.nodeName=${NODE}` },
  });
  informer.subscribe({
    onChange(key, _, after) {
      if (after === undefined) charges.delete(key);
      else charges.set(key, chargeOf(after));
      sums.push([...charges.values()].reduce((sum, each) => sum + each, 0));
    },
  });
  watching = informer.run(stopper.signal);
  await world().startOperator({ allocation: { warmUp: '0s', staleAfter: '16s' } });
  for (const app of ['web', 'hog', 'idle', 'scaled'] as const) {
    await api.create(resources.deployments, deploymentOf(app), { namespace });
  }
  await eventually(async () => {
    for (const app of ['web', 'hog', 'idle', 'scaled'] as const) {
      expect((await podOf(app)).status?.containerStatuses?.[0]?.ready).toBe(true);
    }
  });
  const ofNode = { apiVersion: 'v1', kind: 'Node', name: NODE } as const;
  await nodes.startAgent(NODE, world().agentEnv(NODE), await world().agentKubeconfig(ofNode));
});

afterAll(async () => {
  await cluster().nodes.killAgent(NODE);
  stopper.abort();
  await watching;
  await cluster().api.delete(priorityClasses, priorityClass);
});

/** Everything that may bound a pod. */
async function bound(own: string): Promise<void> {
  const { api } = cluster();
  const inOwn = { namespace: own };
  await api.create(
    resources.resourceQuotas,
    { metadata: { name: 'cpu' }, spec: { hard: { 'requests.cpu': '1950m' } } },
    inOwn,
  );
  await api.create(
    resources.limitRanges,
    { metadata: { name: 'bounds' }, spec: { limits: [{ type: 'Container', min: { cpu: '50m' } }] } },
    inOwn,
  );
  await api.create(
    resources.podDisruptionBudgets,
    { metadata: { name: 'web' }, spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } } },
    inOwn,
  );
  const metric = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
  };
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'scaled' };
  const autoscaler = {
    metadata: { name: 'scaled' },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 2, metrics: [metric] },
  };
  await api.create(resources.horizontalPodAutoscalers, autoscaler as object, inOwn);
}

function deploymentOf(app: App): Deployment {
  const load = { web: '100m', hog: '2000m', idle: '20m', scaled: '50m' }[app];
  const amounts = { requests: { cpu: originals[app], memory: '64Mi' } };
  return {
    metadata: { name: app },
    spec: {
      selector: { matchLabels: { app } },
      template: {
        metadata: { labels: { app }, annotations: { 'stowage.test/cpu': load } },
        spec: {
          nodeSelector: { allocated: NODE },
          ...(app === 'web' && { priorityClassName: priorityClass }),
          containers: [{ name: 'app', image: 'example.test/app:1', resources: amounts }],
        },
      },
    },
  };
}

async function podOf(app: App): Promise<Pod> {
  const { items } = await cluster().api.list(resources.pods, { namespace, labelSelector: `app=${app}` });
  const [pod] = items;
  if (pod === undefined) throw new Error(`no pod of ${app}`);
  return pod;
}

async function allocationOf(app: App) {
  const { metadata } = await podOf(app);
  return cluster().api.get(podAllocations, metadata?.uid ?? '', { namespace });
}

async function load(app: App, cpu: string): Promise<void> {
  const { metadata } = await podOf(app);
  const body = { metadata: { annotations: { 'stowage.test/cpu': cpu } } };
  await cluster().api.patch(resources.pods, metadata?.name ?? '', { type: 'merge', body }, { namespace });
}

const ours: readonly string[] = [STOWAGE_USER, AGENT_USER];

const resizesSince = (position: number) =>
  world()
    .audit.records()
    .slice(position)
    .filter((record) => record.resource === 'pods/resize' && record.namespace === namespace);

/** Resolves when in so many looks, which are a second and more apart, no resize was seen. */
async function untilQuiet(looks: number): Promise<void> {
  let position = world().audit.position();
  let quiet = 0;
  await cluster().eventually(async () => {
    const now = world().audit.position();
    quiet = resizesSince(position).length === 0 ? quiet + 1 : 0;
    position = now;
    await sleep(createSystemClock(), 1000);
    expect(quiet).toBeGreaterThanOrEqual(looks);
  });
}

describe('a node under load', () => {
  test('a load step moves CPU within two loops, the status says so once it is in force, and the sum stays within the node at every event', async () => {
    const { eventually } = cluster();
    for (const app of ['web', 'hog', 'idle', 'scaled'] as const) await eventually(() => allocationOf(app));
    // From a minute after its start on a pod may be given less: the idle one pays.
    await eventually(async () => expect(requestOf(await podOf('idle'))).toBeLessThan(300));
    // What it gave goes to the others: that is no answer to the step that follows.
    await untilQuiet(6);
    const before = requestOf(await podOf('web'));
    const { metadata } = await podOf('web');
    const position = world().audit.position();
    const { name: web = '' } = metadata ?? {};
    await load('web', '1200m');
    await eventually(async () => expect(resizesSince(position).filter(({ name }) => name === web)).not.toEqual([]));
    const [resize] = resizesSince(position).filter(({ name }) => name === web);
    const loops = loopsFrom(await cluster().nodes.agentPlans(NODE), web, 150, resize?.receivedMillis ?? Number.NaN);
    expect(loops).toBeGreaterThanOrEqual(1);
    expect(loops).toBeLessThanOrEqual(2);
    await eventually(async () => expect(requestOf(await podOf('web'))).toBeGreaterThan(before + 200));
    await eventually(async () => {
      const { spec, status } = await allocationOf('web');
      expect(status?.phase).toBe('Applied');
      expect(status?.appliedCPURequest).toBe(spec?.desiredCPURequest);
      expect(spec?.decision?.weight).toBeGreaterThan(2);
    });
    // At every event of the watch: four pods came, each was told about several times.
    expect(sums.length).toBeGreaterThan(20);
    expect(Math.max(...sums)).toBeLessThanOrEqual(ALLOCATABLE);
    for (const app of ['web', 'hog', 'idle', 'scaled'] as const) {
      expect((await podOf(app)).status?.containerStatuses?.[0]?.restartCount).toBe(0);
    }
  });

  test('no resize was refused in a namespace with quota, LimitRange and autoscaler; the autoscaled request is as it was', async () => {
    const resizes = resizesSince(0);
    expect(resizes.length).toBeGreaterThan(1);
    expect(resizes.filter(({ code }) => code >= 400)).toEqual([]);
    // Nor any other patch that operator or agent sent about the namespace.
    const patches = world()
      .audit.records()
      .filter(({ verb, namespace: at, user }) => verb === 'patch' && at === namespace && ours.includes(user));
    expect(patches.length).toBeGreaterThan(resizes.length);
    expect(patches.filter(({ code }) => code >= 400 && code !== 409)).toEqual([]);
    expect(requestOf(await podOf('scaled'))).toBe(200);
    await cluster().eventually(async () =>
      expect((await allocationOf('scaled')).status?.guidance).toMatchObject({ isRequestFrozen: true }),
    );
  });

  test('P18: constant load ends in no write to any pod', async () => {
    await untilQuiet(14);
  });

  test('an agent that is cut off: the pods keep what they have, and after the time to live get back what they had', async () => {
    const { eventually, nodes } = cluster();
    const before = requestOf(await podOf('web'));
    expect(before).not.toBe(200);
    await nodes.cutOffAgent(NODE);
    await eventually(async () => {
      for (const app of ['web', 'hog', 'idle'] as const) {
        const pod = await podOf(app);
        expect(requestOf(pod)).toBe(millis(originals[app]));
        expect(pod.metadata?.annotations?.[sizingKeys.allocationOriginals]).toBeUndefined();
      }
    });
    await eventually(async () =>
      expect((await allocationOf('web')).status).toMatchObject({ phase: 'Pending', reason: 'Stale' }),
    );
    expect(Math.max(...sums)).toBeLessThanOrEqual(ALLOCATABLE);
    expect(resizesSince(0).filter(({ code }) => code >= 400)).toEqual([]);
  });
});

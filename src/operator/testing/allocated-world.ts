/** The embedded world with allocation on: the operator, an agent on every node, and pods under load. */
import { expect, onTestFinished } from 'vitest';
import type { Event, Pod } from '../../api/core.ts';
import { customResourceDefinition } from '../../api/crd/crd.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { type PodAllocation, podAllocations } from '../../api/pod-allocation.ts';
import { podAllocationDescription } from '../../api/pod-allocation-schema.ts';
import { resources } from '../../api/resources.ts';
import type { NodeSpec } from '../../cluster/kubelet/node-object.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { tryParseMillicores } from '../../lib/quantity.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { settled } from '../../lib/testing/settled.ts';
import type { Millicores } from '../../lib/units.ts';
import { createSimulatedAgents, type SeenPlan, type SimulatedAgents } from '../../simulator/simulated-agents.ts';
import { createEmbeddedWorld, type EmbeddedWorld, namespaceObject, type WorldOptions } from './embedded-world.ts';

export interface AllocatedWorldOptions extends Omit<WorldOptions, 'config'> {
  /** Lines under `allocation:`, two spaces in front. */
  readonly allocation?: string;
  /** More of the configuration. */
  readonly config?: string;
  /** Nodes with agents. Default one of 2 cores. */
  readonly nodes?: readonly Partial<NodeSpec>[];
  /** Of the agents. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: an agent on every node, with rights to everything. */
  readonly startsAgents?: boolean;
  /** Told of every plan of an agent. */
  readonly onPlan?: (node: string, plan: SeenPlan) => void;
  /** Rightsizing is on too. */
  readonly isRightsizing?: boolean;
}

export interface AllocatedWorld extends EmbeddedWorld {
  readonly agents: SimulatedAgents;
  readonly nodeNames: readonly string[];
  pod(name: string): Promise<Pod>;
  allocation(podName: string): Promise<PodAllocation | undefined>;
  /** CPU requested by the spec of a pod. */
  request(podName: string): Promise<Millicores>;
  events(reason: string): Promise<Event[]>;
  /** Resizes that the operator has sent. */
  resizes(): number;
}

const GIB = 1024 ** 3;

export async function startAllocatedWorld(options: AllocatedWorldOptions = {}): Promise<AllocatedWorld> {
  const {
    allocation = '',
    config = '',
    env = {},
    nodes = [{}],
    startsAgents = true,
    isRightsizing = false,
    onPlan,
    ...rest
  } = options;
  let resizes = 0;
  const base = await createEmbeddedWorld({
    onDemandNodes: 0,
    spotNodes: 0,
    ...rest,
    onWrite(write) {
      if (write.subresource === 'resize') resizes++;
      rest.onWrite?.(write);
    },
    config: `engines: { placement: true, allocation: true, rightsizing: ${isRightsizing} }\nallocation:\n  warmUp: 0s\n${allocation}\n${config}`,
  });
  onTestFinished(() => base.stop());
  const { api, cluster, clock } = base;
  await settled(clock, cluster.apply([customResourceDefinition(podAllocationDescription)]));
  const nodeNames = nodes.map(({ name }, index) => name ?? `node-${index + 1}`);
  for (const [index, node] of nodes.entries()) {
    const spec = { name: `node-${index + 1}`, cpuMillis: 2000, memoryBytes: 16 * GIB, labels: {}, ...node };
    await settled(clock, cluster.kubelet.addNode(spec));
  }
  for (const name of ['shop', 'mbcas-system'])
    await settled(clock, api.create(resources.namespaces, namespaceObject(name)));
  const agents = createSimulatedAgents({
    usage: cluster.kubelet.usage,
    env: { STOWAGE_ALLOCATION_MANAGEMENT_MODE: 'optIn', ...env },
    clock,
    random: createSeededRandom(7),
    log: createSilentLogger(),
    ...(onPlan !== undefined && { onPlan }),
  });
  onTestFinished(async () => {
    const stopping = agents.stop();
    await clock.advance(0);
    await stopping;
  });
  await base.startOperator();
  if (startsAgents) for (const name of nodeNames) agents.start(name, api);
  const namespace = 'shop';
  const world: AllocatedWorld = {
    ...base,
    agents,
    nodeNames,
    pod: (name) => api.get(resources.pods, name, { namespace }),
    async allocation(podName) {
      const { items } = await api.list(podAllocations, { namespace });
      return items.find(({ spec }) => spec?.podName === podName);
    },
    request: async (name) => requestOf(await api.get(resources.pods, name, { namespace })),
    async events(reason) {
      const { items } = await api.list<Event>(resources.events, { namespace });
      return items.filter((event) => event.reason === reason);
    },
    resizes: () => resizes,
  };
  return world;
}

export interface LoadedPodFields {
  readonly name: string;
  readonly namespace?: string;
  /** A curve of cluster/load/pod-load.ts. */
  readonly cpu?: string;
  readonly request?: string;
  readonly limit?: string;
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
}

/** A pod that takes part, with memory so that it is Burstable. */
export function loadedPod(fields: LoadedPodFields): Pod {
  const { name, namespace = 'shop', cpu, request = '200m', limit, labels = {}, annotations = {}, spec = {} } = fields;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { app: name, 'mbcas.io/managed': 'true', ...labels },
      annotations: { ...(cpu !== undefined && { 'stowage.test/cpu': cpu }), ...annotations },
    },
    spec: {
      ...(fields.node !== undefined && { nodeName: fields.node }),
      containers: [
        {
          name: 'app',
          image: 'app:1',
          resources: {
            requests: { cpu: request, memory: '64Mi' },
            ...(limit !== undefined && { limits: { cpu: limit } }),
          },
        },
      ],
      ...spec,
    },
  };
}

export async function createPods(api: KubeApi, pods: readonly LoadedPodFields[]): Promise<void> {
  for (const fields of pods) await api.create(resources.pods, loadedPod(fields));
}

export function requestOf({ spec }: Pod): Millicores {
  return (spec?.containers ?? []).reduce((sum, container) => sum + millis(container.resources?.requests?.['cpu']), 0);
}

export function millis(text: string | undefined): Millicores {
  return tryParseMillicores(text) ?? 0;
}

/** Fails with what is there where nothing is. */
export function present<T>(value: T | undefined, what: string): T {
  expect(value, what).toBeDefined();
  if (value === undefined) throw new Error(what);
  return value;
}

/** The largest sum of what pods of a node are charged with that its watch has shown, and how often it was above `capacity`. */
export interface ChargeWatch {
  readonly most: () => Millicores;
  /** Every pod event: name and charge. */
  readonly seen: readonly { readonly name: string; readonly sum: Millicores }[];
}

/** Follows every event of the pods of a cluster: the charge of a pod is the largest of spec, allocated and actual. */
export function watchCharges(world: Pick<EmbeddedWorld, 'cluster'>): ChargeWatch {
  const charges = new Map<string, Millicores>();
  const seen: { name: string; sum: Millicores }[] = [];
  const note = (pod: Pod, isGone: boolean): void => {
    const { name = '' } = pod.metadata ?? {};
    const isOver = isGone || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (isOver || pod.spec?.nodeName === undefined) charges.delete(name);
    else charges.set(name, chargeOf(pod));
    seen.push({ name, sum: [...charges.values()].reduce((sum, each) => sum + each, 0) });
  };
  world.cluster.caches.of(resources.pods).onChange((before, after) => {
    const pod = after ?? before;
    if (pod !== undefined) note(pod, after === undefined);
  });
  return { most: () => Math.max(0, ...seen.map(({ sum }) => sum)), seen };
}

export function chargeOf({ spec, status }: Pod): Millicores {
  return (spec?.containers ?? []).reduce((sum, { name, resources: asked }) => {
    const told = status?.containerStatuses?.find((each) => each.name === name);
    const amounts = [asked?.requests?.['cpu'], told?.allocatedResources?.['cpu'], told?.resources?.requests?.['cpu']];
    return sum + Math.max(...amounts.map(millis));
  }, 0);
}

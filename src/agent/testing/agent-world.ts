/** A node as its agent meets it: the embedded API server with the definition installed, pods on it, and their control groups. */
import type { KubeObject, Pod } from '../../api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../../api/crd/crd.ts';
import { type PodAllocation, podAllocations } from '../../api/pod-allocation.ts';
import { podAllocationDescription } from '../../api/pod-allocation-schema.ts';
import { resources } from '../../api/resources.ts';
import { type ApiServer, createApiServer } from '../../cluster/apiserver/api-server.ts';
import type { Clock } from '../../lib/clock.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createFakeTree, type FakePod, type FakeTree, fakeContainerId, type TreeLayout } from './fake-tree.ts';

export interface WorldPod {
  readonly namespace: string;
  readonly name: string;
  readonly fake: FakePod;
}

export interface PodSketch {
  readonly name: string;
  readonly namespace?: string;
  /** Millicores, of each container. */
  readonly request?: number;
  readonly limit?: number;
  readonly containers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface AgentWorld {
  readonly server: ApiServer;
  readonly tree: FakeTree;
  addPod(sketch: PodSketch): Promise<WorldPod>;
  /** The container gets a new id and, as after a restart, a new group. */
  restart(pod: WorldPod, container: string): Promise<WorldPod>;
  removePod(pod: WorldPod): Promise<void>;
  allocations(): Promise<PodAllocation[]>;
  close(): Promise<void>;
}

export const NODE = 'worker-1';
export const AGENT_NAMESPACE = 'mbcas-system';

export interface AgentWorldOptions {
  readonly clock: Clock;
  readonly layout?: Partial<TreeLayout>;
  /** Millicores. */
  readonly allocatable?: number;
  readonly hasDefinition?: boolean;
}

export async function createAgentWorld(options: AgentWorldOptions): Promise<AgentWorld> {
  const { clock, layout = {}, allocatable = 4000, hasDefinition = true } = options;
  const server = createApiServer({ clock, random: createSeededRandom(1) });
  const api = server.client();
  const tree = createFakeTree({ version: 2, driver: 'systemd', runtime: 'containerd', ...layout });
  let containers = 0;
  for (const name of ['shop', AGENT_NAMESPACE]) await api.create(resources.namespaces, { metadata: { name } });
  if (hasDefinition) {
    const definition: KubeObject = customResourceDefinition(podAllocationDescription);
    await api.create(customResourceDefinitions, definition);
  }
  const time = new Date(clock.now() - 3_600_000).toISOString();
  await api.create(resources.nodes, { metadata: { name: NODE } });
  await api.patch(
    resources.nodes,
    NODE,
    {
      type: 'merge',
      body: {
        status: {
          capacity: { cpu: `${allocatable + 200}m`, memory: '16Gi', pods: '110' },
          allocatable: { cpu: `${allocatable}m`, memory: '15Gi', pods: '110' },
          conditions: [
            { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastTransitionTime: time },
          ],
        },
      },
    },
    { subresource: 'status' },
  );

  const setStatus = async (pod: Pod, fake: FakePod): Promise<void> => {
    const { name = '', namespace = '' } = pod.metadata ?? {};
    await api.patch(
      resources.pods,
      name,
      { type: 'merge', body: { status: statusOf(pod, fake, time) } },
      { namespace, subresource: 'status' },
    );
  };

  return {
    server,
    tree,
    async addPod(sketch) {
      const { name, namespace = 'shop', request = 100, limit, labels = {}, annotations = {} } = sketch;
      const names = sketch.containers ?? ['main'];
      const pod = await api.create(resources.pods, {
        metadata: { name, namespace, labels: { ...labels }, annotations: { ...annotations } },
        spec: {
          nodeName: NODE,
          containers: names.map((container) => ({
            name: container,
            image: 'example.test/app:1',
            resources: {
              requests: { cpu: `${request}m`, memory: '64Mi' },
              ...(limit !== undefined && { limits: { cpu: `${limit}m` } }),
            },
          })),
        },
      });
      const ids = Object.fromEntries(names.map((container) => [container, fakeContainerId(++containers)]));
      const fake: FakePod = { uid: pod.metadata?.uid ?? '', qos: 'burstable', containers: ids };
      tree.add(fake);
      await setStatus(pod, fake);
      return { namespace, name, fake };
    },
    async restart(pod, container) {
      const fake = { ...pod.fake, containers: { ...pod.fake.containers, [container]: fakeContainerId(++containers) } };
      tree.remove(pod.fake, container);
      tree.set(fake, container, { usageMicros: 0 });
      await setStatus(await api.get(resources.pods, pod.name, { namespace: pod.namespace }), fake);
      return { ...pod, fake };
    },
    async removePod({ namespace, name, fake }) {
      await api.delete(resources.pods, name, { namespace, gracePeriodSeconds: 0 });
      tree.remove(fake);
    },
    allocations: async () => (await api.list(podAllocations)).items,
    async close() {
      await server.close();
      tree.close();
    },
  };
}

function statusOf(pod: Pod, fake: FakePod, time: string): object {
  return {
    phase: 'Running',
    qosClass: 'Burstable',
    startTime: time,
    observedGeneration: pod.metadata?.generation ?? 1,
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time }],
    containerStatuses: (pod.spec?.containers ?? []).map(({ name, resources: amounts }) => ({
      name,
      image: 'example.test/app:1',
      imageID: '',
      ready: true,
      restartCount: 0,
      containerID: `containerd://${fake.containers[name]}`,
      state: { running: { startedAt: time } },
      resources: amounts,
      allocatedResources: amounts?.requests,
    })),
  };
}

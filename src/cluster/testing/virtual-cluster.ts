/** A running cluster in virtual time for tests, with short ways to say what a test wants of it. */
import type { Deployment, Pod, StatefulSet } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { ascending } from '../../lib/ascending.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock, type VirtualClock } from '../../lib/virtual-clock.ts';
import { type Cluster, type ClusterOptions, createCluster } from '../cluster.ts';
import type { NodeSpec } from '../kubelet/node-object.ts';
import { isActive } from '../pod-state.ts';

const GIB = 1024 ** 3;
/** 1 June 2026, midnight UTC. */
export const TEST_START_MILLIS = Date.UTC(2026, 5, 1);

export interface VirtualCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  seconds(count: number): Promise<void>;
  /** Active pods, by name. */
  pods(namespace?: string): Pod[];
  deployment(name: string): Deployment;
  statefulSet(name: string): StatefulSet;
}

export interface VirtualClusterOptions extends Omit<ClusterOptions, 'clock' | 'random' | 'log'> {
  readonly seed?: number;
}

export async function startVirtualCluster(options: VirtualClusterOptions = {}): Promise<VirtualCluster> {
  const clock = createVirtualClock(TEST_START_MILLIS);
  const random = createSeededRandom(options.seed ?? 1);
  const cluster = createCluster({ ...options, clock, random, log: createSilentLogger() });
  const stop = new AbortController();
  await cluster.start(stop.signal);
  const find = <T>(object: T | undefined, what: string): T => {
    if (object === undefined) throw new Error(`There is no ${what} in the test cluster.`);
    return object;
  };
  return {
    cluster,
    clock,
    seconds: (count) => clock.advance(count * 1000),
    pods: (namespace = 'default') =>
      [...cluster.caches.of(resources.pods).inNamespace(namespace)]
        .filter(isActive)
        .sort((left, right) => ascending(left.metadata?.name ?? '', right.metadata?.name ?? '')),
    deployment: (name) => find(cluster.caches.of(resources.deployments).get(`default/${name}`), `Deployment ${name}`),
    statefulSet: (name) =>
      find(cluster.caches.of(resources.statefulSets).get(`default/${name}`), `StatefulSet ${name}`),
    async [Symbol.asyncDispose]() {
      await cluster.stop();
    },
  };
}

/** `count` equal nodes `node-1` … over three zones. */
export function testNodes(count: number, cpuMillis = 16_000, more: Partial<NodeSpec> = {}): NodeSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    labels: { 'topology.kubernetes.io/zone': `zone-${'abc'[index % 3]}` },
    cpuMillis,
    memoryBytes: 64 * GIB,
    ...more,
  }));
}

type PodSpec = NonNullable<Pod['spec']>;

export interface WorkloadOptions {
  readonly replicas?: number;
  readonly image?: string;
  readonly cpu?: string;
  /** Annotations of the pods. */
  readonly annotations?: Record<string, string>;
  readonly spec?: Partial<PodSpec>;
}

export function testTemplate(name: string, { image = 'app:1', cpu = '100m', annotations, spec }: WorkloadOptions) {
  return {
    metadata: { labels: { app: name }, ...(annotations === undefined ? {} : { annotations }) },
    spec: { containers: [{ name: 'app', image, resources: { requests: { cpu, memory: '64Mi' } } }], ...spec },
  };
}

export function testDeployment(
  name: string,
  options: WorkloadOptions & { readonly strategy?: NonNullable<Deployment['spec']>['strategy'] } = {},
): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: options.replicas ?? 1,
      selector: { matchLabels: { app: name } },
      template: testTemplate(name, options),
      ...(options.strategy === undefined ? {} : { strategy: options.strategy }),
    },
  };
}

export function testStatefulSet(
  name: string,
  options: WorkloadOptions & { readonly set?: Partial<NonNullable<StatefulSet['spec']>> } = {},
): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: options.replicas ?? 1,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: testTemplate(name, options),
      ...options.set,
    },
  };
}

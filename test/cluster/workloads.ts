/** Small workloads for the suites, and where their pods are, told by the nodes they run on. */
import { expect, vi } from 'vitest';
import type { Deployment, LabelSelector, Pod, PodDisruptionBudget, StatefulSet } from '../../src/api/core.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import type { RealCluster } from './real-cluster.ts';

export const ENABLED = { 'spotalis.io/enabled': 'true' } as const;
export type Annotations = Readonly<Record<string, string>>;

export function policy(spotPercentage: number | string, minOnDemand: number | string): Annotations {
  return {
    'spotalis.io/spot-percentage': String(spotPercentage),
    'spotalis.io/min-on-demand': String(minOnDemand),
  };
}

/** @returns a new namespace with the label, and what else it is annotated with. */
export async function managedNamespace(cluster: RealCluster, annotations: Annotations = {}): Promise<string> {
  const name = await cluster.namespace();
  const body = { metadata: { labels: ENABLED, annotations } };
  await cluster.api.patch(resources.namespaces, name, { type: 'merge', body });
  return name;
}

function podTemplate(app: string) {
  const requests = { cpu: '10m', memory: '8Mi' };
  return {
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'main', image: 'example.test/app:1', resources: { requests } }] },
  };
}

export async function deploy(
  { api }: RealCluster,
  namespace: string,
  replicas: number,
  annotations: Annotations,
  name = 'web',
): Promise<void> {
  const deployment: Deployment = {
    metadata: { name, labels: ENABLED, annotations },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: podTemplate(name) },
  };
  await api.create(resources.deployments, deployment, { namespace });
}

export async function deploySet(
  { api }: RealCluster,
  namespace: string,
  replicas: number,
  annotations: Annotations,
  name = 'db',
): Promise<void> {
  const claim = { metadata: { name: 'data' }, spec: claimSpec };
  const set: StatefulSet = {
    metadata: { name, labels: ENABLED, annotations },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: podTemplate(name),
      volumeClaimTemplates: [claim],
    },
  };
  await api.create(resources.statefulSets, set, { namespace });
}

const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

/** Resolves when the controller has counted every pod, all of which are ready. */
export async function protect(
  cluster: RealCluster,
  namespace: string,
  budget: { readonly minAvailable: number } | { readonly maxUnavailable: number },
  name = 'web',
): Promise<void> {
  const { api, eventually } = cluster;
  const { length } = await podsOf(cluster, namespace, { matchLabels: { app: name } });
  const pdb: PodDisruptionBudget = {
    metadata: { name },
    spec: { ...budget, selector: { matchLabels: { app: name } } },
  };
  await api.create(resources.podDisruptionBudgets, pdb, { namespace });
  await eventually(async () => {
    const { status } = await api.get(resources.podDisruptionBudgets, name, { namespace });
    expect(status).toMatchObject({ observedGeneration: 1, expectedPods: length, currentHealthy: length });
  });
}

type Scalable = 'deployments' | 'statefulSets';

export async function scale(
  { api }: RealCluster,
  kind: Scalable,
  namespace: string,
  name: string,
  replicas: number,
): Promise<void> {
  const type: ResourceType = resources[kind];
  await api.patch(type, name, { type: 'merge', body: { spec: { replicas } } }, { namespace });
}

export async function annotate(
  { api }: RealCluster,
  kind: Scalable,
  namespace: string,
  name: string,
  annotations: Readonly<Record<string, string | null>>,
): Promise<void> {
  const type: ResourceType = resources[kind];
  await api.patch(type, name, { type: 'merge', body: { metadata: { annotations } } }, { namespace });
}

export interface Sides {
  readonly spot: number;
  readonly onDemand: number;
  /** Pods that are there and not ready, or not on a node. */
  readonly pending: number;
  /** Pods that are terminating. */
  readonly ending: number;
}

export const isReady = (pod: Pod): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
export const isStaying = (pod: Pod): boolean => pod.metadata?.deletionTimestamp === undefined;
export const isOnSpot = (pod: Pod): boolean => pod.spec?.nodeName?.startsWith('spot-') === true;

/** By the node each pod runs on, whatever its stamps and selectors say. */
export function sidesOf(pods: readonly Pod[]): Sides {
  const staying = pods.filter(isStaying);
  const ready = staying.filter(isReady);
  const spot = ready.filter(isOnSpot).length;
  return {
    spot,
    onDemand: ready.length - spot,
    pending: staying.length - ready.length,
    ending: pods.length - staying.length,
  };
}

/** With the pods themselves in the failure's message: numbers alone do not say what a pod waits for. */
export function expectPodSides(pods: readonly Pod[], expected: Partial<Sides>): void {
  expect(sidesOf(pods), pods.map(describePod).join('\n')).toMatchObject(expected);
}

export function describePod(pod: Pod): string {
  const { metadata = {}, spec, status = {} } = pod;
  const unmet = (status.conditions ?? []).filter((condition) => condition.status !== 'True');
  const parts = [
    `${metadata.namespace}/${metadata.name}`,
    `capacity ${metadata.annotations?.['spotalis.io/capacity']}`,
    `node ${spec?.nodeName}`,
    status.phase,
    ...(metadata.deletionTimestamp === undefined ? [] : [`to go at ${metadata.deletionTimestamp}`]),
    ...unmet.map(({ type, reason, message }) => [type, 'is not met:', reason, message].filter(Boolean).join(' ')),
  ];
  return parts.join(', ');
}

export async function podsOf({ api }: RealCluster, namespace: string, selector?: LabelSelector): Promise<Pod[]> {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const labelSelector = labels.length === 0 ? {} : { labelSelector: labels.join(',') };
  return (await api.list(resources.pods, { namespace, ...labelSelector })).items;
}

/** Reading hundreds of pods too often would slow down what is waited for. */
const waiting = { timeout: 200_000, interval: 300 } as const;

/** Waits until exactly these pods are ready on each side and there are no others. */
export function untilSides(
  cluster: RealCluster,
  namespace: string,
  spot: number,
  onDemand: number,
  selector?: LabelSelector,
): Promise<void> {
  return vi.waitFor(
    async () => expectPodSides(await podsOf(cluster, namespace, selector), { spot, onDemand, pending: 0, ending: 0 }),
    waiting,
  );
}

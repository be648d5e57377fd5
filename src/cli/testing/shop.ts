/** A small cluster as `kubectl get -o json` prints it: namespace shop, two spot and two on-demand nodes, what a test asks for. */
import { createHash } from 'node:crypto';

export interface ShopWorkload {
  readonly kind?: 'Deployment' | 'StatefulSet';
  readonly name: string;
  /** Annotations without their prefix `spotalis.io/`. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** One pod each, by the node it runs on; empty text for a pod without a node. */
  readonly pods: readonly string[];
  readonly replicas?: number;
  readonly enabled?: boolean;
}

/** An object of the dump. */
export type Manifest = Readonly<Record<string, unknown>>;

const spotNodes = ['spot-1', 'spot-2'] as const;
const onDemandNodes = ['od-1', 'od-2'] as const;

const uid = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);
const CREATED = '2026-01-01T00:00:00Z';

export function namespace(
  name: string,
  labels: Readonly<Record<string, string>> = { 'spotalis.io/enabled': 'true' },
): Manifest {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: uid(`ns/${name}`), labels } };
}

export function node(name: string, capacityType: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: uid(`node/${name}`),
      labels: { 'karpenter.sh/capacity-type': capacityType, 'kubernetes.io/hostname': name },
    },
    status: { allocatable: { cpu: '8', memory: '32Gi', pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** The nodes and the namespace. */
export function shopCluster(): Manifest[] {
  return [
    namespace('shop'),
    ...spotNodes.map((name) => node(name, 'spot')),
    ...onDemandNodes.map((name) => node(name, 'on-demand')),
  ];
}

/** A workload with its pods, all ready, and the ReplicaSet between them where there is one. */
export function workload({
  kind = 'Deployment',
  name,
  annotations = {},
  pods,
  replicas = pods.length,
  enabled = true,
}: ShopWorkload): Manifest[] {
  const labels = { app: name };
  const hash = kind === 'Deployment' ? { 'pod-template-hash': 'abc123' } : {};
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'main', image: 'web', resources: { requests: { cpu: '100m', memory: '64Mi' } } }] },
  };
  const replicaSet = `${name}-abc123`;
  const own = { apiVersion: 'apps/v1', kind, name, uid: uid(`${kind}/${name}`), controller: true };
  const owner =
    kind === 'Deployment'
      ? { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: replicaSet, uid: uid(`rs/${name}`), controller: true }
      : own;
  const status = {
    observedGeneration: 1,
    replicas: pods.length,
    updatedReplicas: pods.length,
    readyReplicas: pods.length,
    availableReplicas: pods.length,
  };
  const metadata = (objectName: string, more: Manifest): Manifest => ({
    namespace: 'shop',
    name: objectName,
    creationTimestamp: CREATED,
    generation: 1,
    resourceVersion: '1',
    ...more,
  });
  const top: Manifest = {
    apiVersion: 'apps/v1',
    kind,
    metadata: metadata(name, {
      uid: own.uid,
      labels: enabled ? { 'spotalis.io/enabled': 'true' } : {},
      annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`spotalis.io/${key}`, value])),
    }),
    spec: { replicas, selector: { matchLabels: labels }, template },
    status,
  };
  const between: Manifest[] =
    kind === 'StatefulSet'
      ? []
      : [
          {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            metadata: metadata(replicaSet, { uid: owner.uid, labels: { ...labels, ...hash }, ownerReferences: [own] }),
            spec: { replicas, template },
            status,
          },
        ];
  return [top, ...between, ...pods.map((nodeName, index) => podOf(index, nodeName))];

  function podOf(index: number, nodeName: string): Manifest {
    const podName = kind === 'Deployment' ? `${replicaSet}-p${index}` : `${name}-${index}`;
    const isBound = nodeName !== '';
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: metadata(podName, {
        uid: uid(`pod/${podName}`),
        labels: { ...labels, ...hash },
        ownerReferences: [owner],
      }),
      spec: { ...template.spec, ...(isBound && { nodeName }) },
      status: {
        phase: isBound ? 'Running' : 'Pending',
        conditions: [{ type: 'Ready', status: isBound ? 'True' : 'False', lastTransitionTime: CREATED }],
      },
    };
  }
}

export function budget(name: string, disruptionsAllowed: number): Manifest {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name, uid: uid(`pdb/${name}`), generation: 1 },
    spec: { selector: { matchLabels: { app: name } } },
    status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 3, desiredHealthy: 3 - disruptionsAllowed },
  };
}

/** Text of a dump, as `kubectl get -A -o json` gives it. */
export function dump(...objects: readonly Manifest[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
}

/** The public manifests of test/fixtures, with the labels and annotations a user would add, and what has to come of it. */
import type { KubeObject } from '../../src/api/core.ts';
import { applyObject, readObjects } from './apply-objects.ts';
import type { RealCluster } from './real-cluster.ts';
import { type Annotations, ENABLED, managedNamespace, policy } from './workloads.ts';

export interface PlacedWorkload {
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly name: string;
  /** Instead of what the manifest says, so that the split matters. */
  readonly replicas: number;
  readonly annotations: Annotations;
  readonly spot: number;
  readonly onDemand: number;
}

export interface Application {
  readonly file: string;
  /** Defaults for the whole namespace. */
  readonly namespaceAnnotations: Annotations;
  readonly workloads: readonly PlacedWorkload[];
  /** Deployments that do not get the label. */
  readonly unmanaged: readonly string[];
}

const deployment = (
  name: string,
  replicas: number,
  annotations: Annotations,
  spot: number,
  onDemand: number,
): PlacedWorkload => ({ kind: 'Deployment', name, replicas, annotations, spot, onDemand });
const statefulSet = (...args: Parameters<typeof deployment>): PlacedWorkload => ({
  ...deployment(...args),
  kind: 'StatefulSet',
});

/** Targets worked out by hand: spot = min(ceil(replicas x percentage), replicas - floor), never below 0. */
export const applications: readonly Application[] = [
  {
    file: 'online-boutique.yaml',
    namespaceAnnotations: policy(80, 1),
    workloads: [
      deployment('frontend', 6, policy(50, 2), 3, 3),
      deployment('adservice', 4, policy('75%', 1), 3, 1),
      deployment('currencyservice', 5, policy(40, 1), 2, 3),
      deployment('cartservice', 3, policy(100, '50%'), 1, 2),
      deployment('redis-cart', 1, policy(100, 1), 0, 1),
      deployment('loadgenerator', 3, policy(100, 0), 3, 0),
      deployment('recommendationservice', 7, policy(60, 3), 4, 3),
      deployment('checkoutservice', 4, policy(0, 0), 0, 4),
      deployment('emailservice', 2, policy(50, 0), 1, 1),
      deployment('paymentservice', 3, policy(34, 1), 2, 1),
      // Nothing of their own: the namespace's defaults.
      deployment('shippingservice', 5, {}, 4, 1),
    ],
    unmanaged: ['productcatalogservice'],
  },
  {
    file: 'cockroachdb-statefulset.yaml',
    namespaceAnnotations: {},
    workloads: [statefulSet('cockroachdb', 5, policy(60, 2), 3, 2)],
    unmanaged: [],
  },
  {
    file: 'cassandra-statefulset.yaml',
    namespaceAnnotations: {},
    workloads: [statefulSet('cassandra', 3, policy(67, 1), 2, 1)],
    unmanaged: [],
  },
  {
    file: 'guestbook.yaml',
    namespaceAnnotations: {},
    workloads: [
      deployment('frontend', 3, policy(67, 1), 2, 1),
      deployment('redis-master', 1, policy(0, 1), 0, 1),
      deployment('redis-replica', 2, policy(50, 1), 1, 1),
    ],
    unmanaged: [],
  },
];

/** Applies one into a namespace of its own. @returns the namespace. */
export async function applyApplication(cluster: RealCluster, application: Application): Promise<string> {
  const namespace = await managedNamespace(cluster, application.namespaceAnnotations);
  for (const object of await readObjects(`test/fixtures/manifests/${application.file}`)) {
    // Volumes come from the default class, which a simulated provisioner serves.
    if (object.kind === 'StorageClass') continue;
    await applyObject(cluster.api, adapted(object, application), namespace);
  }
  return namespace;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields at `path`, or none. */
function fieldsAt(value: unknown, ...path: readonly string[]): Fields {
  const found = path.reduce<unknown>((at, key) => (isFields(at) ? at[key] : undefined), value);
  return isFields(found) ? found : {};
}

/** @returns the object with what a user adds, and without what this Kubernetes no longer takes. */
function adapted(object: KubeObject, { workloads }: Application): KubeObject {
  // policy/v1beta1 ended with Kubernetes 1.25; the fields are the same.
  if (object.kind === 'PodDisruptionBudget') return { ...object, apiVersion: 'policy/v1' };
  const placed = workloads.find(({ kind, name }) => kind === object.kind && name === object.metadata?.name);
  if (placed === undefined) return object;
  const { labels = {}, annotations = {} } = object.metadata ?? {};
  const spec = fieldsAt(object, 'spec');
  const template = fieldsAt(spec, 'template');
  const metadata = fieldsAt(template, 'metadata');
  // Probes with long delays are for real databases.
  const quick = { ...fieldsAt(metadata, 'annotations'), 'stowage.test/ready-after': '200ms' };
  const claims = Array.isArray(spec['volumeClaimTemplates']) ? spec['volumeClaimTemplates'] : [];
  const workload = {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...labels, ...ENABLED },
      annotations: { ...annotations, ...placed.annotations },
    },
    spec: {
      ...spec,
      replicas: placed.replicas,
      template: { ...template, metadata: { ...metadata, annotations: quick } },
      ...(claims.length > 0 && { volumeClaimTemplates: claims.map(ofDefaultClass) }),
    },
  };
  return workload;
}

function ofDefaultClass(claim: unknown): Fields {
  return { ...fieldsAt(claim), metadata: { name: fieldsAt(claim, 'metadata')['name'] } };
}

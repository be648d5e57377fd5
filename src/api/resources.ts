/** The resource types Stowage talks about, each with what a URL needs. One line a type. */
import type {
  ConfigMap,
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  Event,
  HorizontalPodAutoscaler,
  Job,
  KubeObject,
  Lease,
  LimitRange,
  MutatingWebhookConfiguration,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ResourceQuota,
  Secret,
  Service,
  StatefulSet,
  ValidatingWebhookConfiguration,
} from './core.ts';

/** A served resource. `T` is the type of its objects; it exists at compile time only. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  /** API group, empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, lower-case name as in URLs, e.g. `pods`. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly objectType?: T;
}

function define<T extends KubeObject>(
  group: string,
  version: string,
  plural: string,
  kind: string,
  namespaced: boolean,
): ResourceType<T> {
  return { group, version, plural, kind, namespaced };
}

export const resources = {
  pods: define<Pod>('', 'v1', 'pods', 'Pod', true),
  nodes: define<Node>('', 'v1', 'nodes', 'Node', false),
  namespaces: define<Namespace>('', 'v1', 'namespaces', 'Namespace', false),
  services: define<Service>('', 'v1', 'services', 'Service', true),
  configMaps: define<ConfigMap>('', 'v1', 'configmaps', 'ConfigMap', true),
  secrets: define<Secret>('', 'v1', 'secrets', 'Secret', true),
  persistentVolumes: define<PersistentVolume>('', 'v1', 'persistentvolumes', 'PersistentVolume', false),
  persistentVolumeClaims: define<PersistentVolumeClaim>(
    '',
    'v1',
    'persistentvolumeclaims',
    'PersistentVolumeClaim',
    true,
  ),
  deployments: define<Deployment>('apps', 'v1', 'deployments', 'Deployment', true),
  replicaSets: define<ReplicaSet>('apps', 'v1', 'replicasets', 'ReplicaSet', true),
  statefulSets: define<StatefulSet>('apps', 'v1', 'statefulsets', 'StatefulSet', true),
  daemonSets: define<DaemonSet>('apps', 'v1', 'daemonsets', 'DaemonSet', true),
  controllerRevisions: define<ControllerRevision>('apps', 'v1', 'controllerrevisions', 'ControllerRevision', true),
  podDisruptionBudgets: define<PodDisruptionBudget>(
    'policy',
    'v1',
    'poddisruptionbudgets',
    'PodDisruptionBudget',
    true,
  ),
  limitRanges: define<LimitRange>('', 'v1', 'limitranges', 'LimitRange', true),
  resourceQuotas: define<ResourceQuota>('', 'v1', 'resourcequotas', 'ResourceQuota', true),
  jobs: define<Job>('batch', 'v1', 'jobs', 'Job', true),
  cronJobs: define<CronJob>('batch', 'v1', 'cronjobs', 'CronJob', true),
  horizontalPodAutoscalers: define<HorizontalPodAutoscaler>(
    'autoscaling',
    'v2',
    'horizontalpodautoscalers',
    'HorizontalPodAutoscaler',
    true,
  ),
  leases: define<Lease>('coordination.k8s.io', 'v1', 'leases', 'Lease', true),
  events: define<Event>('events.k8s.io', 'v1', 'events', 'Event', true),
  mutatingWebhookConfigurations: define<MutatingWebhookConfiguration>(
    'admissionregistration.k8s.io',
    'v1',
    'mutatingwebhookconfigurations',
    'MutatingWebhookConfiguration',
    false,
  ),
  validatingWebhookConfigurations: define<ValidatingWebhookConfiguration>(
    'admissionregistration.k8s.io',
    'v1',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    false,
  ),
} as const;

/** `group/version`, or `version` alone for the core group: the text of an object's `apiVersion`. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

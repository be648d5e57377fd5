/** The table of served types: what `src/api/resources.ts` names, and the further types real manifests contain. */
import { type ResourceType, resources } from '../../api/resources.ts';
import { schemaFromStruct } from './field-schema.ts';
import { deepFreeze } from './json.ts';
import { autoscalerV1View } from './rules/autoscaler.ts';
import { decodeStruct, zeroStruct } from './schema/decode-struct.ts';
import { type StructType, structOf } from './schema/struct-types.ts';
import type { ServedType, TypeRules } from './served-type.ts';

type Traits = Partial<
  Pick<
    ServedType,
    'singular' | 'shortNames' | 'categories' | 'subresources' | 'hasGeneration' | 'view' | 'storage' | 'verbs'
  >
> & {
  readonly rules?: TypeRules;
};

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** What follows from the struct of a built-in type. */
function builtInTraits(struct: StructType): Pick<ServedType, 'struct' | 'unset' | 'fieldSchema' | 'unknownFields'> {
  return {
    struct,
    unset: deepFreeze(zeroStruct(struct)),
    fieldSchema: schemaFromStruct(struct),
    unknownFields: (body) => decodeStruct(body, struct).unknown,
  };
}

/**
 * Completes a type to a served one. Unmentioned traits: no short name, no subresource, no generation.
 * @param struct of a built-in type; absent for types that others define.
 */
export function serve(type: ResourceType, traits: Traits = {}, struct?: StructType): ServedType {
  const { group, version, plural, kind, namespaced } = type;
  return {
    group,
    version,
    plural,
    kind,
    namespaced,
    singular: traits.singular ?? kind.toLowerCase(),
    shortNames: traits.shortNames ?? [],
    categories: traits.categories ?? [],
    subresources: traits.subresources ?? [],
    hasGeneration: traits.hasGeneration ?? false,
    verbs: traits.verbs ?? ALL_VERBS,
    rules: traits.rules ?? {},
    storage: traits.storage ?? `${group}/${plural}`,
    ...(traits.view === undefined ? {} : { view: traits.view }),
    ...(struct === undefined ? {} : builtInTraits(struct)),
  };
}

function type(group: string, version: string, plural: string, kind: string, namespaced: boolean): ResourceType {
  return { group, version, plural, kind, namespaced };
}

function admission(plural: string, kind: string): ResourceType {
  return type('admissionregistration.k8s.io', 'v1', plural, kind, false);
}

const WORKLOAD = { categories: ['all'], subresources: ['status', 'scale'], hasGeneration: true };

/** Rules by `group/plural`; built once a server, so no table is shared between servers. */
export function builtInTypes(
  rulesOf: (key: string) => TypeRules,
  coreEventView: NonNullable<ServedType['view']>,
): ServedType[] {
  const builtIn = (resource: ResourceType, traits: Traits): ServedType => serve(resource, traits, structOf(resource));
  const entry = (resource: ResourceType, traits: Traits = {}): ServedType =>
    builtIn(resource, { ...traits, rules: rulesOf(`${resource.group}/${resource.plural}`) });
  const status = { subresources: ['status'] };
  return [
    entry(resources.pods, {
      shortNames: ['po'],
      categories: ['all'],
      subresources: ['status', 'binding', 'eviction', 'resize', 'log', 'ephemeralcontainers'],
      hasGeneration: true,
    }),
    entry(resources.nodes, { shortNames: ['no'], ...status }),
    entry(resources.namespaces, { shortNames: ['ns'], subresources: ['status', 'finalize'] }),
    entry(resources.services, { shortNames: ['svc'], categories: ['all'], ...status }),
    entry(resources.configMaps, { shortNames: ['cm'] }),
    entry(resources.secrets),
    entry(resources.persistentVolumes, { shortNames: ['pv'], ...status }),
    entry(resources.persistentVolumeClaims, { shortNames: ['pvc'], ...status }),
    entry(type('', 'v1', 'serviceaccounts', 'ServiceAccount', true), { shortNames: ['sa'] }),
    entry(type('', 'v1', 'endpoints', 'Endpoints', true), { shortNames: ['ep'], singular: 'endpoints' }),
    entry(type('', 'v1', 'limitranges', 'LimitRange', true), { shortNames: ['limits'] }),
    entry(type('', 'v1', 'resourcequotas', 'ResourceQuota', true), { shortNames: ['quota'], ...status }),
    entry(type('', 'v1', 'replicationcontrollers', 'ReplicationController', true), { ...WORKLOAD, shortNames: ['rc'] }),
    builtIn(type('', 'v1', 'events', 'Event', true), {
      shortNames: ['ev'],
      storage: 'events.k8s.io/events',
      view: coreEventView,
      rules: rulesOf('/events'),
    }),
    entry(resources.deployments, { ...WORKLOAD, shortNames: ['deploy'] }),
    entry(resources.replicaSets, { ...WORKLOAD, shortNames: ['rs'] }),
    entry(resources.statefulSets, { ...WORKLOAD, shortNames: ['sts'] }),
    entry(resources.daemonSets, { ...WORKLOAD, shortNames: ['ds'], ...status }),
    entry(resources.controllerRevisions),
    entry(resources.podDisruptionBudgets, { shortNames: ['pdb'], hasGeneration: true, ...status }),
    entry(resources.leases),
    entry(resources.events, { shortNames: ['ev'] }),
    entry(resources.mutatingWebhookConfigurations, { hasGeneration: true }),
    entry(admission('validatingwebhookconfigurations', 'ValidatingWebhookConfiguration'), { hasGeneration: true }),
    entry(admission('validatingadmissionpolicies', 'ValidatingAdmissionPolicy'), { hasGeneration: true, ...status }),
    entry(admission('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding'), { hasGeneration: true }),
    entry(type('batch', 'v1', 'jobs', 'Job', true), { categories: ['all'], hasGeneration: true, ...status }),
    entry(type('batch', 'v1', 'cronjobs', 'CronJob', true), {
      categories: ['all'],
      shortNames: ['cj'],
      hasGeneration: true,
      ...status,
    }),
    entry(type('rbac.authorization.k8s.io', 'v1', 'roles', 'Role', true)),
    entry(type('rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding', true)),
    entry(type('rbac.authorization.k8s.io', 'v1', 'clusterroles', 'ClusterRole', false)),
    entry(type('rbac.authorization.k8s.io', 'v1', 'clusterrolebindings', 'ClusterRoleBinding', false)),
    entry(type('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass', false), {
      shortNames: ['pc'],
      hasGeneration: true,
    }),
    entry(type('storage.k8s.io', 'v1', 'storageclasses', 'StorageClass', false), { shortNames: ['sc'] }),
    entry(type('storage.k8s.io', 'v1', 'csinodes', 'CSINode', false)),
    entry(type('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice', true)),
    entry(type('networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy', true), {
      shortNames: ['netpol'],
      hasGeneration: true,
    }),
    entry(type('networking.k8s.io', 'v1', 'ingresses', 'Ingress', true), {
      shortNames: ['ing'],
      hasGeneration: true,
      ...status,
    }),
    entry(resources.horizontalPodAutoscalers, {
      shortNames: ['hpa'],
      categories: ['all'],
      hasGeneration: true,
      ...status,
    }),
    builtIn(type('autoscaling', 'v1', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', true), {
      shortNames: ['hpa'],
      categories: ['all'],
      hasGeneration: true,
      view: autoscalerV1View,
      rules: rulesOf('autoscaling/v1'),
      ...status,
    }),
    entry(type('apiextensions.k8s.io', 'v1', 'customresourcedefinitions', 'CustomResourceDefinition', false), {
      shortNames: ['crd', 'crds'],
      hasGeneration: true,
      ...status,
    }),
    entry(type('apiregistration.k8s.io', 'v1', 'apiservices', 'APIService', false), { hasGeneration: true, ...status }),
  ];
}

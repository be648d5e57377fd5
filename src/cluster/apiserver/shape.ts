/**
 * The JSON shapes of the types whose fields this server or its clients rely on: what the real server finds out when it
 * decodes a body into its structs. Fields not named here are kept as they are.
 */
import type { ResourceType } from '../../api/resources.ts';
import { tryParseQuantity } from '../../lib/quantity.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

export type Shape =
  | 'string'
  | 'number'
  | 'boolean'
  | 'quantity'
  | 'intOrString'
  | 'microTime'
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> };

const TEXTS: Shape = { map: 'string' };
const QUANTITIES: Shape = { map: 'quantity' };
const list = (shape: Shape): Shape => ({ list: shape });
const fields = (shapes: Readonly<Record<string, Shape>>): Shape => ({ fields: shapes });

const METADATA = fields({
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  uid: 'string',
  resourceVersion: 'string',
  labels: TEXTS,
  annotations: TEXTS,
  finalizers: list('string'),
  ownerReferences: list(
    fields({ apiVersion: 'string', kind: 'string', name: 'string', uid: 'string', controller: 'boolean' }),
  ),
  managedFields: list(fields({ manager: 'string' })),
});
const RESOURCES = fields({ requests: QUANTITIES, limits: QUANTITIES });
const CONTAINER = fields({
  name: 'string',
  image: 'string',
  command: list('string'),
  args: list('string'),
  env: list(fields({ name: 'string', value: 'string' })),
  ports: list(fields({ containerPort: 'number', protocol: 'string', name: 'string' })),
  resources: RESOURCES,
  volumeMounts: list(fields({ name: 'string', mountPath: 'string' })),
  resizePolicy: list(fields({ resourceName: 'string', restartPolicy: 'string' })),
});
const EXPRESSIONS = list(fields({ key: 'string', operator: 'string', values: list('string') }));
const SELECTOR = fields({ matchLabels: TEXTS, matchExpressions: EXPRESSIONS });
const NODE_TERM = fields({ matchExpressions: EXPRESSIONS, matchFields: EXPRESSIONS });
const POD_SPEC = fields({
  containers: list(CONTAINER),
  initContainers: list(CONTAINER),
  volumes: list(fields({ name: 'string' })),
  nodeName: 'string',
  nodeSelector: TEXTS,
  restartPolicy: 'string',
  schedulerName: 'string',
  priorityClassName: 'string',
  terminationGracePeriodSeconds: 'number',
  activeDeadlineSeconds: 'number',
  resources: RESOURCES,
  overhead: QUANTITIES,
  tolerations: list(
    fields({ key: 'string', operator: 'string', value: 'string', effect: 'string', tolerationSeconds: 'number' }),
  ),
  topologySpreadConstraints: list(
    fields({ maxSkew: 'number', topologyKey: 'string', whenUnsatisfiable: 'string', labelSelector: SELECTOR }),
  ),
  affinity: fields({
    nodeAffinity: fields({
      requiredDuringSchedulingIgnoredDuringExecution: fields({ nodeSelectorTerms: list(NODE_TERM) }),
      preferredDuringSchedulingIgnoredDuringExecution: list(fields({ weight: 'number', preference: NODE_TERM })),
    }),
  }),
});
const TEMPLATE = fields({ metadata: METADATA, spec: POD_SPEC });
const CONDITIONS = list(fields({ type: 'string', status: 'string', reason: 'string', message: 'string' }));
const CONTAINER_STATUS = fields({
  name: 'string',
  restartCount: 'number',
  ready: 'boolean',
  resources: RESOURCES,
  allocatedResources: QUANTITIES,
});

function workload(more: Readonly<Record<string, Shape>> = {}): Shape {
  return fields({
    metadata: METADATA,
    spec: fields({ replicas: 'number', selector: SELECTOR, template: TEMPLATE, minReadySeconds: 'number', ...more }),
    status: fields({ replicas: 'number', conditions: CONDITIONS }),
  });
}

const ROLLING = fields({
  type: 'string',
  rollingUpdate: fields({ maxUnavailable: 'intOrString', maxSurge: 'intOrString', partition: 'number' }),
});
const METADATA_ONLY = fields({ metadata: METADATA });

/** By `group/plural`. */
const SHAPES: Readonly<Record<string, Shape>> = {
  '/pods': fields({
    metadata: METADATA,
    spec: POD_SPEC,
    status: fields({ phase: 'string', conditions: CONDITIONS, containerStatuses: list(CONTAINER_STATUS) }),
  }),
  '/nodes': fields({
    metadata: METADATA,
    spec: fields({
      unschedulable: 'boolean',
      taints: list(fields({ key: 'string', value: 'string', effect: 'string' })),
    }),
    status: fields({ capacity: QUANTITIES, allocatable: QUANTITIES, conditions: CONDITIONS }),
  }),
  '/configmaps': fields({ metadata: METADATA, data: TEXTS, binaryData: TEXTS }),
  '/secrets': fields({ metadata: METADATA, data: TEXTS, stringData: TEXTS, type: 'string' }),
  '/services': fields({
    metadata: METADATA,
    spec: fields({
      selector: TEXTS,
      type: 'string',
      ports: list(fields({ port: 'number', targetPort: 'intOrString' })),
    }),
  }),
  'apps/deployments': workload({
    strategy: ROLLING,
    progressDeadlineSeconds: 'number',
    revisionHistoryLimit: 'number',
  }),
  'apps/replicasets': workload(),
  'apps/statefulsets': workload({
    updateStrategy: ROLLING,
    serviceName: 'string',
    volumeClaimTemplates: list(METADATA_ONLY),
  }),
  'apps/daemonsets': workload({ updateStrategy: ROLLING }),
  'policy/poddisruptionbudgets': fields({
    metadata: METADATA,
    spec: fields({
      minAvailable: 'intOrString',
      maxUnavailable: 'intOrString',
      selector: SELECTOR,
      unhealthyPodEvictionPolicy: 'string',
    }),
    status: fields({
      disruptionsAllowed: 'number',
      currentHealthy: 'number',
      desiredHealthy: 'number',
      conditions: CONDITIONS,
    }),
  }),
  'coordination.k8s.io/leases': fields({
    metadata: METADATA,
    spec: fields({
      holderIdentity: 'string',
      leaseDurationSeconds: 'number',
      acquireTime: 'microTime',
      renewTime: 'microTime',
      leaseTransitions: 'number',
    }),
  }),
  '/events': fields({
    metadata: METADATA,
    eventTime: 'microTime',
    count: 'number',
    message: 'string',
    reason: 'string',
    type: 'string',
    series: fields({ lastObservedTime: 'microTime', count: 'number' }),
  }),
  'events.k8s.io/events': fields({
    metadata: METADATA,
    eventTime: 'microTime',
    note: 'string',
    reason: 'string',
    type: 'string',
    series: fields({ lastObservedTime: 'microTime', count: 'number' }),
  }),
};

const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;

/**
 * What is wrong with the shape of `value`, as the real decoder words it; undefined when nothing is.
 * @param stored an object of that type already checked: parts of it that `value` holds in the same place are not looked at again.
 */
export function shapeProblem(
  { group, plural, kind }: Pick<ResourceType, 'group' | 'plural' | 'kind'>,
  value: JsonObject,
  stored?: JsonObject,
): string | undefined {
  return problemOf(value, stored, SHAPES[`${group}/${plural}`] ?? METADATA_ONLY, kind, '');
}

function unmarshal(value: Json, kind: string, path: string, wanted: string): string {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${found} into Go struct field ${kind}${path} of type ${wanted}`;
}

function problemOf(
  value: Json | undefined,
  stored: Json | undefined,
  shape: Shape,
  kind: string,
  path: string,
): string | undefined {
  if (value === undefined || value === null || value === stored) return undefined;
  if (typeof shape === 'string') return scalarProblem(value, shape, kind, path);
  if ('list' in shape) {
    if (!Array.isArray(value)) return unmarshal(value, kind, path, 'array');
    const known = Array.isArray(stored) ? stored : [];
    for (let index = 0; index < value.length; index++) {
      const problem = problemOf(value[index], known[index], shape.list, kind, path);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  if (!isObject(value)) return unmarshal(value, kind, path, 'map' in shape ? 'map' : 'object');
  const known = isObject(stored) ? stored : undefined;
  if ('map' in shape) {
    for (const key in value) {
      const problem = problemOf(value[key], known?.[key], shape.map, kind, path);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  for (const key in shape.fields) {
    const member = shape.fields[key];
    const part = value[key];
    if (member === undefined || part === undefined || part === known?.[key]) continue;
    const problem = problemOf(part, known?.[key], member, kind, `${path}.${key}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function scalarProblem(value: Json, shape: Shape & string, kind: string, path: string): string | undefined {
  switch (shape) {
    case 'quantity':
      if ((typeof value === 'string' || typeof value === 'number') && tryParseQuantity(String(value)) !== undefined)
        return undefined;
      return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    case 'intOrString':
      return typeof value === 'string' || Number.isInteger(value)
        ? undefined
        : unmarshal(value, kind, path, 'intstr.IntOrString');
    case 'microTime':
      if (typeof value !== 'string') return unmarshal(value, kind, path, 'v1.MicroTime');
      return MICRO_TIME.test(value)
        ? undefined
        : `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse the fraction of a second`;
    case 'number':
      return Number.isInteger(value) ? undefined : unmarshal(value, kind, path, 'int32');
    default:
      return typeof value === shape ? undefined : unmarshal(value, kind, path, shape === 'boolean' ? 'bool' : shape);
  }
}

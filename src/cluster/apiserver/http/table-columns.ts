/** Columns by storage, in the real server's order. One line a column. Source: kubernetes pkg/printers/internalversion/printers.go. */
import { ascending } from '../../../lib/ascending.ts';
import {
  type Json,
  numberAt,
  objectAt,
  objectsAt,
  stringAt,
  stringMapAt,
  stringsAt,
  textOf,
  valueAt,
} from '../json.ts';
import type { ApiObject } from '../served-type.ts';
import { printSelector } from '../subresources.ts';
import {
  AGE,
  ageOf,
  type Cell,
  type ColumnSource,
  column,
  count,
  templateColumns,
  text,
  wide,
} from './column-source.ts';
import { FURTHER_COLUMNS } from './further-columns.ts';
import { podRow } from './pod-row.ts';

const TEMPLATE = templateColumns('spec', 'template');
const SELECTOR = wide('Selector', (object) => printSelector(objectAt(object, 'spec', 'selector')) || '<none>');

function labelText(labels: Record<string, string>): string {
  const entries = Object.entries(labels).sort(([a], [b]) => ascending(a, b));
  return entries.length === 0 ? '<none>' : entries.map(([key, value]) => `${key}=${value}`).join(',');
}

function nodeStatus(node: ApiObject): string {
  const ready = objectsAt(node, 'status', 'conditions').find(({ type }) => type === 'Ready');
  const base = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return valueAt(node, 'spec', 'unschedulable') === true ? `${base},SchedulingDisabled` : base;
}

function nodeRoles({ metadata }: ApiObject): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith('node-role.kubernetes.io/')) return [key.slice('node-role.kubernetes.io/'.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return roles.length === 0 ? '<none>' : roles.sort().join(',');
}

const nodeAddress =
  (type: string): Cell =>
  (node) =>
    stringAt(
      objectsAt(node, 'status', 'addresses').find((address) => address['type'] === type),
      'address',
    ) ?? '<none>';

/** `ReadWriteOnce` as `RWO`. */
const shortMode = (mode: string): string => mode.replace(/[a-z]+/g, '').replace(/^RWOP.*$/, 'RWOP');

const sizeAt = (object: ApiObject, path: string): number => Object.keys(objectAt(object, path) ?? {}).length;

const amount = (value: Json | undefined): Json =>
  typeof value === 'string' || typeof value === 'number' ? value : 'N/A';

function servicePorts(service: ApiObject): string {
  const ports = objectsAt(service, 'spec', 'ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    return `${textOf(port['port'])}${nodePort === undefined ? '' : `:${nodePort}`}/${textOf(port['protocol'])}`;
  });
  return ports.length === 0 ? '<none>' : ports.join(',');
}

/** What the fields are called, which differs between the two groups that have events. */
interface EventFields {
  readonly target: string;
  readonly note: string;
  readonly first: string;
  readonly last: string;
  readonly total: string;
  readonly controller: string;
  readonly source: string;
}

function eventColumns(fields: EventFields): readonly ColumnSource[] {
  const { target, note, first, last, total, controller, source } = fields;
  const firstSeen: Cell = (event, now) => ageOf(stringAt(event, first) ?? stringAt(event, 'eventTime'), now);
  const lastSeen: Cell = (event, now) => {
    const at = stringAt(event, 'series', 'lastObservedTime') ?? stringAt(event, last);
    return at === undefined ? firstSeen(event, now) : ageOf(at, now);
  };
  const object: Cell = (event) => {
    const kind = (stringAt(event, target, 'kind') ?? '').toLowerCase();
    const name = stringAt(event, target, 'name');
    return name === undefined ? kind : `${kind}/${name}`;
  };
  return [
    column('Last Seen', lastSeen),
    column('Type', text('', 'type')),
    column('Reason', text('', 'reason')),
    column('Object', object),
    wide('Subobject', text('', target, 'fieldPath')),
    wide('Source', (event) => stringAt(event, source, 'component') || (stringAt(event, controller) ?? '')),
    column('Message', (event) => (stringAt(event, note) ?? '').trim()),
    wide('First Seen', firstSeen),
    wide('Count', (event) => numberAt(event, 'series', 'count') ?? numberAt(event, total) ?? 1),
    wide('Name', (event) => event.metadata.name ?? ''),
  ];
}

const CORE_EVENT = eventColumns({
  target: 'involvedObject',
  note: 'message',
  first: 'firstTimestamp',
  last: 'lastTimestamp',
  total: 'count',
  controller: 'reportingComponent',
  source: 'source',
});

/** Columns after the name, by `group/plural`. */
export const TABLE_COLUMNS: Readonly<Record<string, readonly ColumnSource[]>> = {
  '/pods': [
    column('Ready', (pod, now) => podRow(pod, now).ready),
    column('Status', (pod, now) => podRow(pod, now).status),
    column('Restarts', (pod, now) => podRow(pod, now).restarts),
    AGE,
    wide('IP', text('<none>', 'status', 'podIP')),
    wide('Node', text('<none>', 'spec', 'nodeName')),
    wide('Nominated Node', text('<none>', 'status', 'nominatedNodeName')),
    wide('Readiness Gates', (pod) => {
      const gates = objectsAt(pod, 'spec', 'readinessGates').map((gate) => gate['conditionType']);
      const passed = objectsAt(pod, 'status', 'conditions').filter(
        ({ type, status }) => gates.includes(type) && status === 'True',
      ).length;
      return gates.length === 0 ? '<none>' : `${passed}/${gates.length}`;
    }),
  ],
  '/nodes': [
    column('Status', nodeStatus),
    column('Roles', nodeRoles),
    AGE,
    column('Version', text('', 'status', 'nodeInfo', 'kubeletVersion')),
    wide('Internal-IP', nodeAddress('InternalIP')),
    wide('External-IP', nodeAddress('ExternalIP')),
    wide('OS-Image', text('<unknown>', 'status', 'nodeInfo', 'osImage')),
    wide('Kernel-Version', text('<unknown>', 'status', 'nodeInfo', 'kernelVersion')),
    wide('Container-Runtime', text('<unknown>', 'status', 'nodeInfo', 'containerRuntimeVersion')),
  ],
  '/namespaces': [column('Status', text('', 'status', 'phase')), AGE],
  '/services': [
    column('Type', text('', 'spec', 'type')),
    column('Cluster-IP', text('<none>', 'spec', 'clusterIP')),
    column('External-IP', (service) =>
      stringAt(service, 'spec', 'type') === 'LoadBalancer'
        ? '<pending>'
        : (stringAt(service, 'spec', 'externalName') ?? '<none>'),
    ),
    column('Port(s)', servicePorts),
    AGE,
    wide('Selector', (service) => labelText(stringMapAt(service, 'spec', 'selector'))),
  ],
  '/configmaps': [column('Data', (map) => sizeAt(map, 'data') + sizeAt(map, 'binaryData')), AGE],
  '/secrets': [column('Type', text('', 'type')), column('Data', (secret) => sizeAt(secret, 'data')), AGE],
  '/serviceaccounts': [AGE],
  '/persistentvolumeclaims': [
    column('Status', text('', 'status', 'phase')),
    column('Volume', text('', 'spec', 'volumeName')),
    column('Capacity', (claim) => stringAt(claim, 'status', 'capacity', 'storage') ?? ''),
    column('Access Modes', (claim) => stringsAt(claim, 'status', 'accessModes').map(shortMode).join(',')),
    column('StorageClass', text('', 'spec', 'storageClassName')),
    column('VolumeAttributesClass', text('<unset>', 'spec', 'volumeAttributesClassName')),
    AGE,
    wide('VolumeMode', text('<unset>', 'spec', 'volumeMode')),
  ],
  '/events': CORE_EVENT,
  'apps/deployments': [
    column(
      'Ready',
      (object) => `${numberAt(object, 'status', 'readyReplicas') ?? 0}/${numberAt(object, 'spec', 'replicas') ?? 0}`,
    ),
    count('Up-to-date', 'status', 'updatedReplicas'),
    count('Available', 'status', 'availableReplicas'),
    AGE,
    ...TEMPLATE,
    SELECTOR,
  ],
  'apps/replicasets': [
    count('Desired', 'spec', 'replicas'),
    count('Current', 'status', 'replicas'),
    count('Ready', 'status', 'readyReplicas'),
    AGE,
    ...TEMPLATE,
    SELECTOR,
  ],
  'apps/statefulsets': [
    column(
      'Ready',
      (object) => `${numberAt(object, 'status', 'readyReplicas') ?? 0}/${numberAt(object, 'spec', 'replicas') ?? 0}`,
    ),
    AGE,
    ...TEMPLATE,
  ],
  'apps/daemonsets': [
    count('Desired', 'status', 'desiredNumberScheduled'),
    count('Current', 'status', 'currentNumberScheduled'),
    count('Ready', 'status', 'numberReady'),
    count('Up-to-date', 'status', 'updatedNumberScheduled'),
    count('Available', 'status', 'numberAvailable'),
    column('Node Selector', (object) => labelText(stringMapAt(object, 'spec', 'template', 'spec', 'nodeSelector'))),
    AGE,
    ...TEMPLATE,
    SELECTOR,
  ],
  'policy/poddisruptionbudgets': [
    column('Min Available', (object) => amount(valueAt(object, 'spec', 'minAvailable'))),
    column('Max Unavailable', (object) => amount(valueAt(object, 'spec', 'maxUnavailable'))),
    count('Allowed Disruptions', 'status', 'disruptionsAllowed'),
    AGE,
  ],
  'coordination.k8s.io/leases': [column('Holder', text('', 'spec', 'holderIdentity')), AGE],
  'events.k8s.io/events': CORE_EVENT,
  ...FURTHER_COLUMNS,
};

/** The same for events read in their newer form, whose fields are named otherwise. */
export const NEW_EVENT_COLUMNS = eventColumns({
  target: 'regarding',
  note: 'note',
  first: 'deprecatedFirstTimestamp',
  last: 'deprecatedLastTimestamp',
  total: 'deprecatedCount',
  controller: 'reportingController',
  source: 'deprecatedSource',
});

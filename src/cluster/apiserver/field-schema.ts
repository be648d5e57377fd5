/**
 * How fields merge under server-side apply: which lists are keyed, which are sets, which maps count as one value.
 * Source: the listType, listMapKey and mapType markers of k8s.io/api; for custom resources their x-kubernetes-* extensions.
 */
import { isObject, type Json, type JsonObject, objectAt, stringAt, stringsAt } from './json.ts';

/** Schemas know types, not values: a list may tell its keys only from its items (`ports`). */
export interface FieldSchema {
  /** Keys of a list's items, `set` for a list of distinct scalars, undefined for a list that is one value. */
  listKeys(items: readonly Json[]): readonly string[] | 'set' | undefined;
  /** The map is one value, owned as a whole. */
  readonly atomicMap: boolean;
  member(name: string): FieldSchema;
  item(): FieldSchema;
}

const KEYED: Readonly<Record<string, readonly string[]>> = {
  addresses: ['type'],
  conditions: ['type'],
  containers: ['name'],
  env: ['name'],
  ephemeralContainers: ['name'],
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  ownerReferences: ['uid'],
  podIPs: ['ip'],
  resourceClaims: ['name'],
  schedulingGates: ['name'],
  secrets: ['name'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  volumeDevices: ['devicePath'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
  webhooks: ['name'],
};
const SETS: ReadonlySet<string> = new Set(['finalizers', 'podCIDRs']);
const ATOMIC_MAPS: ReadonlySet<string> = new Set([
  'configMapKeyRef',
  'fieldRef',
  'labelSelector',
  'namespaceSelector',
  'nodeSelector',
  'nodeSelectorTerms',
  'objectSelector',
  'requiredDuringSchedulingIgnoredDuringExecution',
  'resourceFieldRef',
  'scaleTargetRef',
  'secretKeyRef',
  'selector',
]);

/** The schema of one field of built-in types, told by its name: they mean the same wherever they occur. */
function builtIn(name: string): FieldSchema {
  return {
    atomicMap: ATOMIC_MAPS.has(name),
    listKeys(items) {
      if (name === 'ports') {
        const ofContainer = items.some((item) => isObject(item) && item['containerPort'] !== undefined);
        return ofContainer ? ['containerPort', 'protocol'] : ['port', 'protocol'];
      }
      return SETS.has(name) ? 'set' : KEYED[name];
    },
    member: (child) => BUILT_IN.get(child) ?? BUILT_IN_SCHEMA,
    item: () => BUILT_IN_SCHEMA,
  };
}

/** Fields with a rule of their own; all others are plain. */
const BUILT_IN: ReadonlyMap<string, FieldSchema> = new Map(
  [...Object.keys(KEYED), ...SETS, ...ATOMIC_MAPS, 'ports'].map((name) => [name, builtIn(name)]),
);

export const BUILT_IN_SCHEMA: FieldSchema = builtIn('');

/** The schema of a custom resource version; fields it does not describe are single values. */
export function schemaFromOpenApi(schema: JsonObject | undefined): FieldSchema {
  return {
    atomicMap: stringAt(schema, 'x-kubernetes-map-type') === 'atomic',
    listKeys() {
      const kind = stringAt(schema, 'x-kubernetes-list-type');
      if (kind === 'set') return 'set';
      return kind === 'map' ? stringsAt(schema, 'x-kubernetes-list-map-keys') : undefined;
    },
    member(name) {
      if (name === 'metadata') return BUILT_IN_SCHEMA.member('metadata');
      const additional = objectAt(schema, 'additionalProperties');
      return schemaFromOpenApi(objectAt(schema, 'properties', name) ?? additional);
    },
    item: () => schemaFromOpenApi(objectAt(schema, 'items')),
  };
}

/** Values list keys have when an item leaves them out. */
const KEY_DEFAULTS: Readonly<Record<string, Json>> = { protocol: 'TCP' };

/** The path element of a list item, `k:{"name":"web"}`; undefined when the item lacks a key. */
export function itemElement(item: Json, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  const parts: JsonObject = {};
  for (const key of [...keys].sort()) {
    const value = item[key] ?? KEY_DEFAULTS[key];
    if (value === undefined || value === null) return undefined;
    parts[key] = value;
  }
  return `k:${JSON.stringify(parts)}`;
}

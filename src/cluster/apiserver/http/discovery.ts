/** Discovery documents, plain and aggregated. Source: KEP-3352 and apimachinery pkg/apis/meta/v1. */
import type { JsonObject } from '../json.ts';
import type { ServedType } from '../served-type.ts';

export const AGGREGATED = 'apidiscovery.k8s.io';

/** Kinds of subresource bodies that are not the parent's. */
const BODY_KINDS: Readonly<Record<string, { group: string; version: string; kind: string; verbs: readonly string[] }>> =
  {
    scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
    eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
    binding: { group: '', version: 'v1', kind: 'Binding', verbs: ['create'] },
    log: { group: '', version: 'v1', kind: 'Pod', verbs: ['get'] },
  };
const VIEW_VERBS = ['get', 'patch', 'update'];

/** Group order for clients that look for a kind in all groups. */
function groupsOf(types: readonly ServedType[], legacy: boolean): Map<string, Map<string, ServedType[]>> {
  const groups = new Map<string, Map<string, ServedType[]>>();
  for (const type of types) {
    if ((type.group === '') !== legacy) continue;
    const versions = groups.get(type.group) ?? new Map<string, ServedType[]>();
    groups.set(type.group, versions);
    versions.set(type.version, [...(versions.get(type.version) ?? []), type]);
  }
  return groups;
}

function plainEntry(type: ServedType): JsonObject[] {
  const entries: JsonObject[] = [
    {
      name: type.plural,
      singularName: type.singular,
      namespaced: type.namespaced,
      kind: type.kind,
      verbs: [...type.verbs],
      ...(type.shortNames.length === 0 ? {} : { shortNames: [...type.shortNames] }),
      ...(type.categories.length === 0 ? {} : { categories: [...type.categories] }),
    },
  ];
  for (const subresource of type.subresources) {
    const body = BODY_KINDS[subresource];
    entries.push({
      name: `${type.plural}/${subresource}`,
      singularName: '',
      namespaced: type.namespaced,
      ...(body === undefined || body.kind === type.kind ? {} : { group: body.group, version: body.version }),
      kind: body?.kind ?? type.kind,
      verbs: [...(body?.verbs ?? VIEW_VERBS)],
    });
  }
  return entries;
}

function aggregatedEntry(type: ServedType): JsonObject {
  return {
    resource: type.plural,
    responseKind: { group: type.group, version: type.version, kind: type.kind },
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: [...type.verbs],
    ...(type.shortNames.length === 0 ? {} : { shortNames: [...type.shortNames] }),
    ...(type.categories.length === 0 ? {} : { categories: [...type.categories] }),
    subresources: type.subresources.map((subresource) => {
      const {
        group = type.group,
        version = type.version,
        kind = type.kind,
        verbs = VIEW_VERBS,
      } = BODY_KINDS[subresource] ?? {};
      return { subresource, responseKind: { group, version, kind }, verbs: [...verbs] };
    }),
  };
}

const versionEntry = (group: string, version: string): JsonObject => ({
  groupVersion: group === '' ? version : `${group}/${version}`,
  version,
});

function groupEntry(group: string, versions: readonly string[]): JsonObject {
  const [preferred = ''] = versions;
  return {
    name: group,
    versions: versions.map((version) => versionEntry(group, version)),
    preferredVersion: versionEntry(group, preferred),
  };
}

/** `/api` and `/apis`. `aggregatedVersion` is v2 or v2beta1 when the client asked for that form. */
export function discoveryRoot(
  types: readonly ServedType[],
  legacy: boolean,
  aggregatedVersion: string | undefined,
): JsonObject {
  const groups = groupsOf(types, legacy);
  if (aggregatedVersion !== undefined) {
    return {
      kind: 'APIGroupDiscoveryList',
      apiVersion: `${AGGREGATED}/${aggregatedVersion}`,
      metadata: {},
      items: [...groups].map(([name, versions]) => ({
        metadata: { ...(name === '' ? {} : { name }), creationTimestamp: null },
        versions: [...versions].map(([version, served]) => ({
          version,
          freshness: 'Current',
          resources: served.map(aggregatedEntry),
        })),
      })),
    };
  }
  if (legacy) return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: [...groups].map(([name, versions]) => groupEntry(name, [...versions.keys()])),
  };
}

/** `/api/v1`, `/apis/GROUP` (without version) and `/apis/GROUP/VERSION`; undefined when not served. */
export function discoveryOf(types: readonly ServedType[], group: string, version: string): JsonObject | undefined {
  const versions = groupsOf(types, group === '').get(group);
  if (versions === undefined) return undefined;
  if (version === '') return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group, [...versions.keys()]) };
  const served = versions.get(version);
  if (served === undefined) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: served.flatMap(plainEntry),
  };
}

/** The aggregated form an Accept header asks for first, with its content type. */
export function aggregatedForm(accept: string): { readonly version: string; readonly contentType: string } | undefined {
  for (const form of accept.split(',').map((part) => part.trim())) {
    if (!form.startsWith('application/json')) continue;
    const version = /v=(v2(?:beta1)?)(?:;|$)/.exec(form)?.[1];
    if (!form.includes(`g=${AGGREGATED}`) || version === undefined) return undefined;
    return { version, contentType: `application/json;g=${AGGREGATED};v=${version};as=APIGroupDiscoveryList` };
  }
  return undefined;
}

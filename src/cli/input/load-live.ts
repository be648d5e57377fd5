/**
 * The cluster as an API server shows it now to whoever asks: one consistent listing a kind, nothing watched, nothing
 * written.
 */
import type { Event, KubeObject, Namespace } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isForbidden, KubeError } from '../../api/kube-error.ts';
import { policyGroups, policyType } from '../../api/optimization-policy.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import { allocationTypes } from '../allocation/allocation-input.ts';
import { CommandError } from '../cli-error.ts';
import {
  type ClusterInput,
  type ClusterInputBuilder,
  createClusterInputBuilder,
  type InputKind,
  inputKinds,
  kindNames,
} from './cluster-input.ts';
import type { MissingName } from './missing-data.ts';
import { type Reach, type Reader, readAllowed, readAsFarAsAllowed, whatRefused } from './read-allowed.ts';

export interface LiveInput extends ClusterInput {
  /** What this user may not read, or the server does not serve. */
  readonly unreadable: readonly MissingName[];
  /** Pods of other namespaces are not among the records. */
  readonly isPartial: boolean;
  /** Evictions that Stowage's events tell of; undefined where events cannot be listed. */
  readonly evictions: number | undefined;
}

/**
 * Lists what the engines look at. With a namespace only what is in it is needed; what belongs to none, the pods that
 * fill the nodes, and policies of other namespaces are read where that is allowed.
 * @throws CommandError for a namespace that is not there; KubeError 403 or 404 where pods or all workloads are refused;
 * KubeError, or the transport's error, for any other failure.
 */
export async function loadLive(
  api: KubeApi,
  { namespace }: { readonly namespace: string | undefined },
  signal: AbortSignal,
): Promise<LiveInput> {
  const builder = createClusterInputBuilder({ defaultNamespace: 'default' });
  const reader = { api, signal };
  const refusals = new Map<InputKind, KubeError>();
  let isPartial = false;
  for (const kind of kindNames) {
    if (kind === 'pods' && namespace !== undefined) {
      // Only with nodes there is something to fill.
      const hasNodes = !refusals.has('nodes');
      isPartial = !hasNodes || (await readKind(reader, kind, undefined, builder)) !== undefined;
      if (!isPartial) continue;
    }
    const refused = await readKind(reader, kind, namespace, builder);
    if (refused !== undefined) refusals.set(kind, refused);
  }
  const needed = refusals.get('pods') ?? (refusals.has('statefulsets') ? refusals.get('deployments') : undefined);
  if (needed !== undefined) throw needed;
  const unreadable: MissingName[] = [...refusals.keys()];
  if (isPartial && !refusals.has('nodes')) unreadable.push('pods of other namespaces');
  const scope = { namespace, isPartial };
  unreadable.push(...(await readSizing(reader, scope, builder)));
  unreadable.push(...(await readAllocation(reader, scope, builder)));
  return { ...builder.build(), unreadable, isPartial, evictions: await countEvictions(reader, namespace) };
}

/** @returns why the kind could not be read */
async function readKind(
  reader: Reader,
  kind: InputKind,
  namespace: string | undefined,
  builder: ClusterInputBuilder,
): Promise<KubeError | undefined> {
  if (kind === 'namespaces' && namespace !== undefined) return await readNamespace(reader, namespace, builder);
  const type: ResourceType = inputKinds[kind];
  return await readAllowed(reader, type, namespace, () => {
    builder.forget(kind);
    return builder;
  });
}

/** By name: that is what a Role in the namespace can allow. Who may only list them, as an operator may, is asked to. */
async function readNamespace(
  reader: Reader,
  name: string,
  builder: ClusterInputBuilder,
): Promise<KubeError | undefined> {
  const { api, signal } = reader;
  let isThere = false;
  const add = (found: Namespace): void => {
    isThere = true;
    builder.add({ apiVersion: 'v1', kind: 'Namespace', ...found });
  };
  const notGot = await whatRefused(async () => add(await api.get(resources.namespaces, name, { signal })));
  const only = { fieldSelector: `metadata.name=${name}` };
  const refused = isForbidden(notGot)
    ? await readAllowed(reader, resources.namespaces, undefined, () => ({ add }), only)
    : undefined;
  if (refused === undefined && !isThere)
    throw new CommandError(`there is no namespace ${name}; \`kubectl get namespaces\` lists them`);
  return refused;
}

interface LiveScope {
  readonly namespace: string | undefined;
  readonly isPartial: boolean;
}

/** Policies of other namespaces may select workloads here, whoever may see their pods. */
async function readSizing(
  reader: Reader,
  { namespace }: LiveScope,
  builder: ClusterInputBuilder,
): Promise<MissingName[]> {
  const reaches = new Set<Reach>();
  for (const group of policyGroups)
    reaches.add(await readAsFarAsAllowed(reader, policyType(group), { namespace }, () => builder));
  const refused = await readAllowed<KubeObject>(reader, resources.daemonSets, namespace, () => builder);
  const hasPolicies = reaches.has('cluster') || reaches.has('namespace');
  return [
    ...(reaches.has('none') ? (['optimizationpolicies'] as const) : []),
    ...(reaches.has('namespace') ? (['optimizationpolicies of other namespaces'] as const) : []),
    ...(hasPolicies && refused !== undefined ? (['daemonsets'] as const) : []),
  ];
}

/** A Metrics API that is down answers with 503: then nobody has measured. */
async function readAllocation(reader: Reader, scope: LiveScope, builder: ClusterInputBuilder): Promise<MissingName[]> {
  const reaches: Reach[] = [];
  for (const type of allocationTypes) {
    try {
      reaches.push(await readAsFarAsAllowed(reader, type, scope, () => builder));
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      reaches.push('absent');
    }
  }
  const [allocations] = reaches;
  return allocations === 'none' ? ['podallocations'] : [];
}

async function countEvictions(reader: Reader, namespace: string | undefined): Promise<number | undefined> {
  let count = 0;
  const target = {
    add: ({ series }: Event): void => {
      count += series?.count ?? 1;
    },
  };
  const begin = () => {
    count = 0;
    return target;
  };
  try {
    const fieldSelector = 'reason=EvictedForRebalance';
    const refused = await readAllowed(reader, resources.events, namespace, begin, { fieldSelector });
    return refused === undefined ? count : undefined;
  } catch (error) {
    // A figure beside the point must not cost the whole answer.
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

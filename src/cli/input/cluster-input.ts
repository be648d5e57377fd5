/** API objects from anywhere -> records for a snapshot, with word of what was ignored, unreadable or not in the input. */
import type { KubeObject } from '../../api/core.ts';
import { apiVersionOf, type ResourceType, resources } from '../../api/resources.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { SnapshotRecords } from '../../model/snapshot.ts';
import { createProjections } from '../../observe/project.ts';
import { joinClaim } from '../../observe/project-cluster.ts';
import { type AllocationInput, createAllocationInputBuilder } from '../allocation/allocation-input.ts';
import { createSizingInputBuilder, type SizingInput } from '../sizing/sizing-input.ts';
import { createDumpTime } from './dump-time.ts';
import { createOperatorsSeen } from './operators-seen.ts';

/** The kinds placement decides on, by the name users know. */
export const inputKinds = {
  namespaces: resources.namespaces,
  nodes: resources.nodes,
  pods: resources.pods,
  deployments: resources.deployments,
  statefulsets: resources.statefulSets,
  replicasets: resources.replicaSets,
  poddisruptionbudgets: resources.podDisruptionBudgets,
  persistentvolumeclaims: resources.persistentVolumeClaims,
  persistentvolumes: resources.persistentVolumes,
} as const satisfies Record<string, ResourceType>;

export type InputKind = keyof typeof inputKinds;

/** All of them, in the order in which messages name them. */
export const kindNames = Object.keys(inputKinds).filter((name): name is InputKind => Object.hasOwn(inputKinds, name));

/** All the engines look at, read once. Frozen: commands never ask again. */
export interface ClusterInput {
  readonly records: SnapshotRecords;
  /** What rightsizing looks at. */
  readonly sizing: SizingInput;
  /** What allocation looks at. */
  readonly allocation: AllocationInput;
  /** Objects read, by kind, unreadable ones left out. */
  readonly counts: Readonly<Record<string, number>>;
  /** Objects of kinds that placement has no use for, by kind. */
  readonly ignored: ReadonlyMap<string, number>;
  /** One sentence per object that could not be read. */
  readonly problems: readonly string[];
  /** What came more than once: the last of each counts. A sentence, where there is any. */
  readonly repeated: string | undefined;
  /** See {@link DumpTime}. */
  readonly takenAt: EpochMillis | undefined;
}

/** Objects come in any order; of one that comes several times the last counts. */
export interface ClusterInputBuilder {
  add(object: KubeObject): void;
  addProblem(problem: string): void;
  /** Drops the objects of a kind again: their listing starts anew. */
  forget(kind: InputKind): void;
  build(): ClusterInput;
}

export interface ClusterInputOptions {
  /** Namespace of namespaced objects that name none, as `kubectl apply -n` would give them. */
  readonly defaultNamespace: string;
}

/** Collects objects one by one, so that a big cluster is never held as whole objects. */
export function createClusterInputBuilder({ defaultNamespace }: ClusterInputOptions): ClusterInputBuilder {
  const problems: string[] = [];
  const project = createProjections((message) => problems.push(message), { sizing: true });
  const sizing = createSizingInputBuilder((message) => problems.push(message));
  const allocation = createAllocationInputBuilder();
  const ignored = new Map<string, number>();
  const operators = createOperatorsSeen();
  const time = createDumpTime();
  const collectors = {
    namespaces: collector(inputKinds.namespaces, project.namespace),
    nodes: collector(inputKinds.nodes, project.node),
    pods: collector(inputKinds.pods, project.pod),
    deployments: collector(inputKinds.deployments, project.deployment),
    statefulsets: collector(inputKinds.statefulsets, project.statefulSet),
    replicasets: collector(inputKinds.replicasets, project.replicaSet),
    poddisruptionbudgets: collector(inputKinds.poddisruptionbudgets, project.pdb),
    persistentvolumeclaims: collector(inputKinds.persistentvolumeclaims, project.claim),
    persistentvolumes: collector(inputKinds.persistentvolumes, project.volume),
  } as const satisfies Record<InputKind, Collector<unknown>>;

  return {
    add(object) {
      const identified = withIdentity(object, defaultNamespace);
      operators.see(identified);
      time.see(identified);
      if (sizing.add(identified) || allocation.add(identified)) return;
      if (kindNames.some((name) => collectors[name].add(identified))) return;
      const label = ignoredLabel(object);
      ignored.set(label, (ignored.get(label) ?? 0) + 1);
    },
    addProblem: (problem) => problems.push(problem),
    forget: (kind) => collectors[kind].forget(),
    build() {
      const volumes = new Map(collectors.persistentvolumes.records().map((volume) => [volume.name, volume]));
      const workloads = [...collectors.deployments.records(), ...collectors.statefulsets.records()];
      const repeated = kindNames.flatMap((name) => [...collectors[name].repeated]);
      return {
        sizing: sizing.build(workloads),
        allocation: allocation.build(),
        records: {
          namespaces: collectors.namespaces.records(),
          nodes: collectors.nodes.records(),
          workloads,
          replicaSets: collectors.replicasets.records(),
          pods: collectors.pods.records(),
          pdbs: collectors.poddisruptionbudgets.records(),
          volumeClaims: collectors.persistentvolumeclaims
            .records()
            .map((claim) => joinClaim(claim, volumes.get(claim.volumeName ?? ''))),
        },
        counts: Object.fromEntries(kindNames.map((name) => [name, collectors[name].records().length])),
        ignored,
        problems: [...operators.problems(), ...problems],
        repeated: repeated.length > 0 ? severalTimes(repeated) : undefined,
        takenAt: time.takenAt(),
      };
    },
  };
}

/** More names than this are counted, not listed. */
const MAX_REPEATED = 3;

function severalTimes(names: readonly string[]): string {
  const what = names.length === 1 ? 'object comes' : 'objects come';
  const more = names.length > MAX_REPEATED ? ` and ${names.length - MAX_REPEATED} more` : '';
  return `${names.length} ${what} more than once in the input, and the last of each counts: ${names.slice(0, MAX_REPEATED).join(', ')}${more}`;
}

/** Versions of our own kinds that are no longer served are named, lest they look like a mistake of ours. */
function ignoredLabel({ apiVersion = '', kind = 'unknown' }: KubeObject): string {
  return kindNames.some((name) => inputKinds[name].kind === kind) ? `${kind} (${apiVersion})` : kind;
}

interface Collector<R> {
  readonly records: () => R[];
  /** What came more than once. */
  readonly repeated: ReadonlySet<string>;
  /** False when the object is of another type. */
  add(object: KubeObject): boolean;
  forget(): void;
}

function collector<T extends KubeObject, R>(
  type: ResourceType<T>,
  project: (object: T) => R | undefined,
): Collector<R> {
  const records = new Map<string, R>();
  const repeated = new Set<string>();
  return {
    records: () => [...records.values()],
    repeated,
    add(object) {
      if (!isOfType(object, type)) return false;
      const record = project(object);
      if (record === undefined) return true;
      const { namespace, name = '' } = object.metadata ?? {};
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      if (records.has(key)) repeated.add(`${type.kind} ${key}`);
      records.set(key, record);
      return true;
    },
    forget() {
      records.clear();
      repeated.clear();
    },
  };
}

function isOfType<T extends KubeObject>(object: KubeObject, type: ResourceType<T>): object is T {
  return object.kind === type.kind && object.apiVersion === apiVersionOf(type);
}

/** Hand-written manifests have no uid and often no namespace; records are told apart by both. */
function withIdentity(object: KubeObject, defaultNamespace: string): KubeObject {
  const { kind = '', metadata = {} } = object;
  const isClusterWide = kindNames.some((name) => inputKinds[name].kind === kind && !inputKinds[name].namespaced);
  const namespace = isClusterWide ? {} : { namespace: metadata.namespace || defaultNamespace };
  const uid = metadata.uid || `${kind}/${namespace.namespace ?? ''}/${metadata.name ?? ''}`;
  return { ...object, metadata: { ...metadata, ...namespace, uid } };
}

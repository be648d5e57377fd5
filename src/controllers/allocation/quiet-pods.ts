/**
 * Pods of which nothing has changed since they were looked at and told: nearly all of a large cluster, at every look. A
 * look at one makes ten kilobytes of garbage, and a node is looked at whenever one of its pods changes.
 */
import { readMarks } from '../../decide/allocation/marks.ts';
import { isSameList } from '../../lib/same-list.ts';
import type { Millicores } from '../../lib/units.ts';
import type { RunningPredecessor } from '../../model/predecessors.ts';
import type { NamespaceRecord, NodeRecord, PodRecord } from '../../model/records.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { AllocationStores } from '../../observe/allocation-stores.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import type { AllocationAgents } from './agents.ts';
import type { AllocatedPod } from './facts.ts';
import type { AllocationMemory } from './memory.ts';
import type { AllocationSettings } from './settings.ts';

/** What holds for all pods of a node. */
interface NodeState {
  readonly node: NodeRecord;
  readonly settings: AllocationSettings;
  readonly predecessors: readonly RunningPredecessor[];
}

/** All objects that bound the pods of a namespace; the same list as long as none of them changes. */
type Bounds = readonly unknown[];

/** What one look at a pod was made on, beside its record and its allocation. */
export interface Sight {
  readonly workload: SizedWorkload | undefined;
  readonly bounds: Bounds;
  readonly state: NodeState;
}

/** A pod of which there is nothing to do and nothing to say. */
export interface QuietPod extends Sight {
  readonly pod: PodRecord;
  readonly record: AllocationRecord;
  /** What rightsizing advises for it. */
  readonly advice: Millicores | undefined;
}

/**
 * Records are never changed, another takes their place: a look that finds the very same ones would come to the same. Only
 * where time alone may change something, or another pod, a pod is never quiet.
 */
export interface QuietPods {
  /** Of the pods of a node those that are to be looked at; what is known of others than these pods is forgotten. */
  awake(nodeName: string, pods: readonly SizedPod[]): readonly SizedPod[];
  /** To be taken before the pod is judged. @returns undefined where it will not be quiet however that ends. */
  sightOf(known: AllocatedPod): Sight | undefined;
  /** It has what is wanted, and was told so. Counts where all still is as it was seen. */
  note(quiet: QuietPod): void;
}

export interface QuietPodsOptions {
  readonly view: SizingView;
  readonly stores: Pick<AllocationStores, 'of'>;
  readonly agents: Pick<AllocationAgents, 'stateOf'>;
  readonly memory: Pick<AllocationMemory, 'hasRestarted'>;
  readonly settings: () => AllocationSettings;
  readonly isResizing: (podUid: string) => boolean;
  readonly adviceOf: (pod: SizedPod) => Millicores | undefined;
}

/** Of one node. */
interface QuietNode {
  readonly state: NodeState;
  /** Five to a pod, side by side: of ten thousand pods, objects would take twice as much. */
  readonly columns: readonly unknown[];
}
const WIDTH = 5;
const columnsOf = ({ pod, record, workload, advice, bounds }: QuietPod): readonly unknown[] => [
  pod,
  record,
  workload,
  advice,
  bounds,
];

export function createQuietPods(options: QuietPodsOptions): QuietPods {
  const { view, stores, agents, memory, settings, isResizing, adviceOf } = options;
  const quietNodes = new Map<string, QuietNode>();
  const boundsOfNamespaces = new WeakMap<NamespaceRecord, Bounds>();

  const boundsOf = (name: string): Bounds => {
    const namespace = view.namespace(name);
    const bounds: Bounds = [
      namespace,
      ...view.limitRanges(name),
      ...view.quotas(name),
      ...view.hpas(name),
      ...view.vpas(name),
      ...view.pdbs(name),
    ];
    if (namespace === undefined) return bounds;
    const known = boundsOfNamespaces.get(namespace);
    if (known !== undefined && isSameList(known, bounds)) return known;
    boundsOfNamespaces.set(namespace, bounds);
    return bounds;
  };

  /** Undefined where every pod of the node is to be looked at. */
  const stateOf = (nodeName: string): NodeState | undefined => {
    const node = view.node(nodeName);
    const { synced, stale } = view.freshness();
    if (node === undefined || !synced || stale.length > 0 || agents.stateOf(nodeName) !== 'alive') return undefined;
    const current = settings();
    const { topologySpread, spreadCeiling, nodeAffinity } = current.rules.weight;
    // By these, other pods and other nodes count.
    if (topologySpread || spreadCeiling || nodeAffinity) return undefined;
    return { node, settings: current, predecessors: view.predecessors() };
  };

  const quietNode = (nodeName: string): QuietNode | undefined => {
    const known = quietNodes.get(nodeName);
    return known !== undefined && isSameState(known.state, stateOf(nodeName)) ? known : undefined;
  };

  return {
    awake(nodeName, pods) {
      const known = quietNode(nodeName);
      if (known === undefined) {
        quietNodes.delete(nodeName);
        return pods;
      }
      const boundsNow = new Map<string, Bounds>();
      const kept: unknown[] = [];
      const awake = pods.filter((found) => {
        const { pod } = found;
        const at = known.columns.indexOf(pod);
        if (at < 0 || isResizing(pod.uid) || memory.hasRestarted(pod.uid)) return true;
        const bounds = boundsNow.get(pod.namespace) ?? boundsOf(pod.namespace);
        boundsNow.set(pod.namespace, bounds);
        const now = [pod, stores.of(pod), view.workloadOf(pod), adviceOf(found), bounds];
        if (now.some((each, index) => each !== known.columns[at + index])) return true;
        kept.push(...now);
        return false;
      });
      if (kept.length === 0) quietNodes.delete(nodeName);
      else if (kept.length < known.columns.length) quietNodes.set(nodeName, { ...known, columns: kept.slice() });
      return awake;
    },
    sightOf({ found, pod: { namespace, marks }, facts: { hpas }, isRefused, workload }) {
      // Autoscalers count for a time after they have acted, and a quota is told by one pod for all of its node.
      if (hpas === 'unknown' || hpas.length > 0 || view.quotas(namespace).length > 0) return undefined;
      // For a time only.
      if (isRefused) return undefined;
      // That something is not understood is told again and again.
      if (readMarks(marks).problems.length > 0) return undefined;
      const state = stateOf(found.pod.nodeName ?? '');
      return state && { workload, bounds: boundsOf(namespace), state };
    },
    note(quiet) {
      const { pod, state } = quiet;
      const { nodeName = '', namespace } = pod;
      const isAsSeen =
        isSameState(state, stateOf(nodeName)) &&
        stores.of(pod) === quiet.record &&
        view.workloadOf(pod) === quiet.workload &&
        boundsOf(namespace) === quiet.bounds;
      if (!isAsSeen) return;
      const { columns = [] } = quietNode(nodeName) ?? {};
      const at = columns.indexOf(pod);
      const others = at < 0 ? columns : columns.toSpliced(at, WIDTH);
      // Not pushed: a list that grows takes room for more.
      quietNodes.set(nodeName, { state, columns: others.concat(columnsOf(quiet)) });
    },
  };
}

function isSameState(one: NodeState, other: NodeState | undefined): boolean {
  return one.node === other?.node && one.settings === other.settings && one.predecessors === other.predecessors;
}

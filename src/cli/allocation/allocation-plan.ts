/**
 * What allocation would do with the CPU of each node, and why: as the node's agent asked for, else worked out from one look at
 * the Metrics API by the agents' own code, else not at all, and then it says so.
 */

import { annotatedOriginal, notedOriginal } from '../../agent/original-cpu.ts';
import { type AllocationMode, type PodAllocation, RENEWED_ANNOTATION } from '../../api/pod-allocation.ts';
import { type AllocationPod, allocationPodOf, sizeOf } from '../../decide/allocation/allocation-pod.ts';
import { describeClamp } from '../../decide/allocation/clamp.ts';
import { type ExclusionReason, exclusionOf } from '../../decide/allocation/eligibility.ts';
import { managedOf, readMarks } from '../../decide/allocation/marks.ts';
import type { HoldReason, NodePod, PodPlan } from '../../decide/allocation/node-input.ts';
import { planNode } from '../../decide/allocation/plan-node.ts';
import { ascending } from '../../lib/ascending.ts';
import { tryParseMillicores } from '../../lib/quantity.ts';
import type { EpochMillis, Millicores, Millis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import type { PodRecord } from '../../model/records.ts';
import type { AllocationSource } from '../input/load-input.ts';

/** One pod that takes part. Amounts in millicores. */
export interface PlannedShare {
  readonly namespace: string;
  readonly pod: string;
  readonly request: { readonly from: Millicores; readonly to: Millicores };
  /** Left out: no limit, and none is to be set. */
  readonly limit?: { readonly from?: Millicores; readonly to?: Millicores };
  readonly usage?: Millicores;
  readonly claim?: Millicores;
  readonly want?: Millicores;
  readonly weight?: number;
  /** Why nothing changes, or has not changed yet. */
  readonly held?: HoldReason | (string & {});
  /** One sentence for each rule that moved something. */
  readonly clamps: readonly string[];
}

/** A node with at least one pod to show. CPU in millicores. */
export interface PlannedNode {
  readonly node: string;
  readonly measuredBy: 'agent' | 'metrics' | 'nothing';
  /** Since the agent last wrote, by its own clock. */
  readonly agentSilentMillis?: Millis;
  readonly agent: 'alive' | 'silent' | 'gone' | 'none';
  /** Absent, as is `requested`, where pods of other namespaces are not seen. */
  readonly allocatable?: Millicores;
  /** What all its pods request together, others included. */
  readonly requested?: Millicores;
  readonly mode?: AllocationMode;
  readonly shares: readonly PlannedShare[];
  /** Pods that do not take part, counted by why; those that never asked to are left out. */
  readonly excluded: Readonly<Partial<Record<ExclusionReason, number>>>;
}

/** Nodes in order of names; those without a pod that takes part are left out. */
export interface AllocationPlan {
  /** Whether the configuration has the engine on. */
  readonly isOn: boolean;
  readonly resizes: number;
  readonly nodes: readonly PlannedNode[];
}

/** Undefined where nobody takes part. @param namespace the only one whose pods are shown; undefined for all. */
export function planAllocation(
  source: AllocationSource,
  view: Pick<ClusterView, 'nodes' | 'node' | 'namespace'>,
  now: EpochMillis,
  namespace?: string,
): AllocationPlan | undefined {
  const running = source.pods.filter(({ phase }) => phase === 'Running' || phase === 'Pending');
  const byNode = Map.groupBy(running, ({ nodeName }) => nodeName);
  const names = source.isPartial ? [...byNode.keys()] : [...view.nodes()].map(({ name }) => name);
  const nodes = names
    .filter((name) => name !== undefined)
    .sort(ascending)
    .flatMap((name) => planOne({ name, pods: byNode.get(name) ?? [] }, source, { view, now, namespace }));
  if (nodes.length === 0) return undefined;
  const resizes = nodes.flatMap(({ shares }) => shares).filter(isResize).length;
  return { isOn: source.isOn, resizes, nodes };
}

/** Whether something would be written for the pod. */
export function isResize({ request, limit, held }: PlannedShare): boolean {
  return held === undefined && (request.from !== request.to || limit?.from !== limit?.to);
}

interface Candidate {
  readonly pod: AllocationPod;
  readonly allocation: PodAllocation | undefined;
  readonly exclusion: ExclusionReason | undefined;
}

interface PlanScope {
  readonly view: Pick<ClusterView, 'node' | 'namespace'>;
  readonly now: EpochMillis;
  /** The only one to show; undefined for all. */
  readonly namespace: string | undefined;
}

function planOne(
  { name, pods }: { readonly name: string; readonly pods: readonly PodRecord[] },
  source: AllocationSource,
  { view, now, namespace }: PlanScope,
): PlannedNode[] {
  const candidates = pods.flatMap((record) => candidateOf(record, source, view));
  const members = candidates.filter(({ exclusion }) => exclusion === undefined);
  const shown = members.filter(({ pod }) => namespace === undefined || pod.namespace === namespace);
  if (shown.length === 0) return [];
  // What is shared is known only with the node and all that is on it.
  const node = source.isPartial ? undefined : view.node(name);
  const facts = {
    node: name,
    ...(node !== undefined && {
      allocatable: node.allocatable.cpuMillis,
      requested: candidates.reduce((sum, { pod }) => sum + sizeOf(pod).request + pod.overhead, 0),
    }),
    excluded: countExclusions(candidates),
  };
  const silence = silenceOf(members, source.asOf ?? now);
  const agent = silence === undefined ? 'none' : stateOf(silence, source.settings.staleMillis);
  if (members.some(({ allocation }) => allocation !== undefined)) {
    const mode = shown.find(({ allocation }) => allocation?.spec?.decision?.mode)?.allocation?.spec?.decision?.mode;
    return [
      {
        ...facts,
        measuredBy: 'agent',
        agent,
        ...(silence !== undefined && { agentSilentMillis: silence }),
        ...(mode !== undefined && { mode }),
        shares: shown.map(shareAsked),
      },
    ];
  }
  const isMeasured = ({ pod }: Candidate): boolean => source.usage.has(`${pod.namespace}/${pod.name}`);
  if (node === undefined || !shown.some(isMeasured)) {
    return [{ ...facts, measuredBy: 'nothing', agent, shares: shown.map(({ pod }) => keep(pod, 'Unmeasured')) }];
  }
  const { rules } = source.settings;
  const plan = planNode({
    node: {
      name,
      allocatable: node.allocatable.cpuMillis,
      reserved: 0,
      systemUse: undefined,
      conditions: [{ type: 'Ready', status: node.ready ? 'True' : 'False', since: undefined }],
    },
    pods: candidates.map((each) => nodePodOf(each, source, view)),
    memory: new Map(),
    rules,
    now,
  });
  const own = new Set(shown.map(({ pod }) => pod.uid));
  const shares = plan.pods.filter(({ uid }) => own.has(uid)).map(sharePlanned);
  return [{ ...facts, measuredBy: 'metrics', agent, mode: plan.mode, shares }];
}

function candidateOf(record: PodRecord, source: AllocationSource, view: Pick<ClusterView, 'namespace'>): Candidate[] {
  if (record.sizing === undefined) return [];
  const pod = allocationPodOf({ pod: record, sizing: record.sizing });
  const { allocations, settings } = source;
  const allocation = allocations.get(pod.uid) ?? allocations.get(`${pod.namespace}/${pod.name}`);
  const exclusion = exclusionOf(pod, readMarks(pod.marks), historyOf(pod, view), settings.rules);
  return [{ pod, allocation, exclusion }];
}

function historyOf({ namespace }: AllocationPod, view: Pick<ClusterView, 'namespace'>): NodePod['history'] & object {
  return { namespaceManaged: managedOf(view.namespace(namespace)?.labels) };
}

function nodePodOf({ pod }: Candidate, { usage }: AllocationSource, view: Pick<ClusterView, 'namespace'>): NodePod {
  const containers = usage.get(`${pod.namespace}/${pod.name}`);
  const measured =
    containers === undefined
      ? undefined
      : {
          usage: containers.reduce((sum, each) => sum + each.usage, 0),
          throttledRatio: undefined,
          pressure: undefined,
          containers,
        };
  return { pod, measured, original: annotatedOriginal(pod.marks), history: historyOf(pod, view) };
}

/** As the agent asked for and the operator answered. */
function shareAsked({ pod, allocation }: Candidate): PlannedShare {
  const { spec, status } = allocation ?? {};
  if (spec === undefined) return keep(pod, 'NotReported');
  const { decision } = spec;
  const current = sizeOf(pod);
  const to = tryParseMillicores(spec.desiredCPURequest) ?? current.request;
  const ceiling = (spec.limitPolicy ?? 'Apply') === 'Keep' ? current.limit : tryParseMillicores(spec.desiredCPULimit);
  const original = notedOriginal(spec)?.limit;
  // What is lifted where there is nothing stays away.
  const limit = spec.limitPolicy === 'Lift' && current.limit === undefined ? original : ceiling;
  const [usage, claim, want] = [decision?.cpuUsage, decision?.claim, decision?.want].map(tryParseMillicores);
  const isDone = to === current.request && limit === current.limit;
  return {
    ...identity(pod),
    request: { from: current.request, to },
    ...limitsOf(current.limit, limit),
    ...(usage !== undefined && { usage }),
    ...(claim !== undefined && { claim }),
    ...(want !== undefined && { want }),
    ...(decision?.weight !== undefined && { weight: decision.weight }),
    ...(!isDone && status?.phase !== 'Applied' && status?.reason !== undefined && { held: status.reason }),
    clamps: (decision?.clamps ?? []).map(({ reason, message }) => message ?? reason),
  };
}

function sharePlanned(plan: PodPlan): PlannedShare {
  const { current, target, demand, claim, want, weight, held, clamps } = plan;
  return {
    ...identity(plan),
    request: { from: current.request, to: target.request },
    ...limitsOf(current.limit, target.limitPolicy === 'Keep' ? current.limit : target.limit),
    ...(demand !== undefined && { usage: Math.round(demand.state.level.mean) }),
    claim,
    want,
    weight,
    ...(held !== undefined && held !== 'Settled' && { held }),
    clamps: clamps.map(describeClamp),
  };
}

function keep(pod: AllocationPod, held: PlannedShare['held'] & string): PlannedShare {
  const { request, limit } = sizeOf(pod);
  return { ...identity(pod), request: { from: request, to: request }, ...limitsOf(limit, limit), held, clamps: [] };
}

const identity = ({ namespace, name }: { readonly namespace: string; readonly name: string }) => ({
  namespace,
  pod: name,
});

function limitsOf(from: Millicores | undefined, to: Millicores | undefined): Pick<PlannedShare, 'limit'> {
  if (from === undefined && to === undefined) return {};
  return { limit: { ...(from !== undefined && { from }), ...(to !== undefined && { to }) } };
}

function countExclusions(candidates: readonly Candidate[]): Partial<Record<ExclusionReason, number>> {
  const counts: Partial<Record<ExclusionReason, number>> = {};
  for (const { exclusion } of candidates) {
    if (exclusion === undefined || exclusion === 'NotOptedIn') continue;
    counts[exclusion] = (counts[exclusion] ?? 0) + 1;
  }
  return counts;
}

/** Undefined: no agent has written here, or none that renews. */
function silenceOf(members: readonly Candidate[], now: EpochMillis): Millis | undefined {
  const renewals = members
    .flatMap(({ allocation }) => [allocation?.spec?.renewTime, allocation?.metadata?.annotations?.[RENEWED_ANNOTATION]])
    .map((time) => Date.parse(time ?? ''))
    .filter((at) => Number.isFinite(at));
  return renewals.length === 0 ? undefined : Math.max(0, now - Math.max(...renewals));
}

function stateOf(silence: Millis, stale: Millis): PlannedNode['agent'] {
  if (silence >= stale) return 'gone';
  return silence >= stale / 2 ? 'silent' : 'alive';
}

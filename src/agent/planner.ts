/** One tick: from what is known and measured to what should be written, with the memory of the loop in between. */
import type { PodAllocation } from '../api/pod-allocation.ts';
import { type CpuSize, sizeOf } from '../decide/allocation/allocation-pod.ts';
import type { Measurement } from '../decide/allocation/demand.ts';
import { optedOut } from '../decide/allocation/eligibility.ts';
import type { MetricFact } from '../decide/allocation/integrations/custom-metrics.ts';
import type { NodeQuota } from '../decide/allocation/integrations/resource-quota.ts';
import type { HoldReason, NodeMemory, NodePlan, NodePod, PodPlan, PodTarget } from '../decide/allocation/node-input.ts';
import { planNode } from '../decide/allocation/plan-node.ts';
import type { AllocationRules } from '../decide/allocation/rules.ts';
import { fixedContainers } from '../decide/allocation/user-limits.ts';
import type { EpochMillis, Millicores, Millis } from '../lib/units.ts';
import { isOwnManager } from '../model/size-managers.ts';
import type { QosClass } from '../model/sizing-records.ts';
import {
  allocationObject,
  type Desired,
  decisionOf,
  desiredOf,
  isSameDesired,
  keepingDesired,
} from './allocation-object.ts';
import { measure } from './measure.ts';
import type { AgentNode, AgentPod, KnownSpec, NodeStores } from './node-stores.ts';
import { annotatedOriginal, notedOriginal } from './original-cpu.ts';
import type { Sampler } from './sampler.ts';

/** One moment by three clocks: none of them serves for all. */
export interface TickTime {
  /** Never jumps; what the loop remembers is in this time. */
  readonly steady: EpochMillis;
  /** For people. */
  readonly wall: EpochMillis;
  /** The sampler's time. */
  readonly monotonic: Millis;
}

/** All that a plan is made of: with the same input the same plan comes out. */
export interface TickInput {
  readonly node: AgentNode;
  readonly pods: readonly AgentPod[];
  readonly stores: Pick<NodeStores, 'allocation' | 'namespaceManaged'>;
  readonly sampler: Pick<Sampler, 'pod' | 'node'>;
  readonly metricOf: (pod: AgentPod) => MetricFact | undefined;
  readonly rules: AllocationRules;
  readonly tickMillis: Millis;
  readonly samplingMillis: Millis;
  readonly memory: NodeMemory;
  /** By uid of pods whose limit is in force no more: the limit to ask for, so that it is set anew. */
  readonly unenforced: ReadonlyMap<string, Millicores>;
  readonly time: TickTime;
}

/**
 * What the plan wants to be on the server. Why: `changed`: the bargain moved it; `registered`: the first word about a
 * pod; `withdrawn`: an older wish that never came true is taken back; `renewed`: a sign of life; `enforced`: its limit
 * has to be set anew.
 */
export interface IntendedWrite {
  readonly podUid: string;
  readonly object: PodAllocation;
  /** See `PendingWrite`. */
  readonly isAnnotation?: true;
  readonly desired: Desired;
  readonly growth: number;
  readonly why: 'changed' | 'registered' | 'withdrawn' | 'renewed' | 'enforced';
}

/** What one tick came to. */
export interface Tick {
  readonly plan: NodePlan;
  readonly measured: ReadonlyMap<string, Measurement>;
  readonly writes: readonly IntendedWrite[];
}

/** A pod's figures may be so many samples old. */
const OLDEST_SAMPLES = 2.5;
/** What was asked for and not done is taken back where the plan no longer wants it. */
const withdrawing: ReadonlySet<HoldReason> = new Set([
  'Settled',
  'DeadBand',
  'PartialRaise',
  'HasRoom',
  'NotNeeded',
  'Unfunded',
]);

/** Pure. Pods whose newest sample is too old take part without a measurement, and keep what they have. */
export function planTick(input: TickInput): Tick {
  const { node, rules, sampler, tickMillis, samplingMillis, time, memory } = input;
  const measured = new Map<string, Measurement>();
  for (const { pod, tracked } of input.pods) {
    const containers = { all: pod.containers.map(({ name }) => name), fixed: fixedContainers(pod, rules) };
    const oldest = time.monotonic - OLDEST_SAMPLES * samplingMillis;
    const found = measure(sampler.pod(tracked.groupUid), containers, tickMillis, oldest);
    if (found !== undefined) measured.set(pod.uid, found);
  }
  const plan = planNode({
    node: {
      name: node.name,
      allocatable: node.allocatable,
      reserved: Math.max(0, node.capacity - node.allocatable),
      systemUse: sampler.node(tickMillis).system,
      conditions: node.conditions,
    },
    pods: input.pods.map((each) => nodePodOf(each, measured.get(each.pod.uid), input)),
    quotas: quotasOf(input),
    memory,
    rules,
    now: time.steady,
  });
  const pods = new Map(input.pods.map(({ pod }) => [pod.uid, pod]));
  const intended = (each: PodPlan): readonly IntendedWrite[] => {
    const pod = pods.get(each.uid);
    return pod === undefined ? [] : intend({ pod, plan: each }, plan, measured, input);
  };
  const left = ({ uid, reason }: NodePlan['unmanaged'][number]): readonly IntendedWrite[] => {
    const pod = optedOut.has(reason) ? pods.get(uid) : undefined;
    return pod === undefined ? [] : takeBack(pod, input);
  };
  // Nothing is written for what was observed only.
  const writes = rules.apply === 'observe' ? [] : [...plan.pods.flatMap(intended), ...plan.unmanaged.flatMap(left)];
  return { plan, measured, writes };
}

/** What was wished for a pod would come true at the moment in which its owner lets it take part again. */
function takeBack(
  pod: AgentPod['pod'],
  { node: { name: nodeName, allocatable }, stores, time }: TickInput,
): readonly IntendedWrite[] {
  const known = stores.allocation(pod.uid)?.spec;
  const current = sizeOf(pod);
  if (known === undefined || isMet(known, current, allocatable)) return [];
  const desired = keepingDesired(current, allocatable);
  const original = notedOriginal(known);
  const object = allocationObject({ pod, nodeName, desired, original, decision: undefined, now: time.wall });
  return [{ podUid: pod.uid, object, desired, growth: 0, why: 'withdrawn' }];
}

/** What the operator says of the past beats annotations, and these beat what the agent noted itself. */
function nodePodOf(agentPod: AgentPod, measurement: Measurement | undefined, input: TickInput): NodePod {
  const { pod, marks } = agentPod;
  const known = input.stores.allocation(pod.uid);
  const guidance = known?.guidance;
  const namespaceManaged = input.stores.namespaceManaged(pod.namespace) ?? guidance?.history.namespaceManaged;
  return {
    pod,
    marks,
    measured: measurement,
    isPlanned: known !== undefined,
    advice: guidance?.advice,
    original: guidance?.original ?? ownAnnotation(pod) ?? notedOriginal(known?.spec),
    metric: input.metricOf(agentPod),
    hints: guidance?.hints,
    history: { ...guidance?.history, ...(namespaceManaged !== undefined && { namespaceManaged }) },
  };
}

/** Anybody may write the annotation; it is ours where a resize of ours followed it. */
function ownAnnotation({ marks, sizeManagers }: AgentPod['pod']): CpuSize | undefined {
  return sizeManagers.some(isOwnManager) ? annotatedOriginal(marks) : undefined;
}

/** One pod of each namespace tells it, whichever: see `quotaOf` in controllers/allocation/reports.ts. */
function quotasOf({ pods, stores }: TickInput): ReadonlyMap<string, NodeQuota> {
  const quotas = new Map<string, NodeQuota>();
  for (const { pod } of pods) {
    const quota = stores.allocation(pod.uid)?.guidance?.quota;
    if (quota !== undefined) quotas.set(pod.namespace, quota);
  }
  return quotas;
}

/** At most one write: what the plan wants, what takes back an older wish, or the first word about a pod. */
function intend(
  { pod, plan }: { readonly pod: AgentPod['pod']; readonly plan: PodPlan },
  node: NodePlan,
  measured: ReadonlyMap<string, Measurement>,
  { node: { name: nodeName, allocatable }, stores, unenforced, rules, time }: TickInput,
): readonly IntendedWrite[] {
  const known = stores.allocation(plan.uid)?.spec;
  const keeping = keepingDesired(plan.current, allocatable);
  const wanted = plan.isWritten
    ? desiredOf(inTens(plan.target, pod.qos, rules), allocatable, plan.isForced || plan.isFunding)
    : undefined;
  const isLeftOver =
    known !== undefined &&
    plan.held !== undefined &&
    withdrawing.has(plan.held) &&
    !isMet(known, plan.current, allocatable);
  const limit = unenforced.get(plan.uid);
  const anew =
    limit !== undefined && isLimitOurs(pod, known, rules) ? anewOf(plan.current, limit, allocatable) : undefined;
  const desired = wanted ?? anew ?? (known === undefined || isLeftOver ? keeping : undefined);
  if (desired === undefined || (known !== undefined && isSameDesired(known, desired))) return [];
  const object = allocationObject({
    pod,
    nodeName,
    desired,
    original: notedOriginal(known) ?? (known === undefined ? (ownAnnotation(pod) ?? sizeOf(pod)) : undefined),
    decision: decisionOf(plan, node, measured.get(plan.uid)),
    now: time.wall,
  });
  const growth = wanted === undefined ? 0 : plan.target.request - plan.current.request;
  const why =
    wanted !== undefined ? 'changed' : known === undefined ? 'registered' : desired === anew ? 'enforced' : 'withdrawn';
  return [{ podUid: plan.uid, object, desired, growth, why }];
}

/**
 * Where the share is the limit it may be any number, and systemd rounds quotas up to tens, the pod's apart from its
 * containers' (k/k#117782, #129357): so tens are asked for, downwards, as the sum of all must fit.
 */
function inTens(target: PodTarget, qos: QosClass, { apply }: AllocationRules): PodTarget {
  const { request, limit } = target;
  if (limit === undefined || (qos !== 'Guaranteed' && apply !== 'limits')) return target;
  const least = qos === 'Guaranteed' ? 1 : request + 1;
  const tens = TENS * Math.max(Math.floor(limit / TENS), Math.ceil(least / TENS));
  return { ...target, request: qos === 'Guaranteed' ? tens : request, limit: tens };
}

const TENS: Millicores = 10;

/** Not of a Guaranteed pod, whose request would have to move as well. */
function anewOf(current: CpuSize, limit: Millicores, allocatable: Millicores): Desired | undefined {
  if (current.limit === undefined || current.limit === current.request || limit > allocatable) return undefined;
  return desiredOf({ request: current.request, limit, limitPolicy: 'Apply' }, allocatable, true);
}

/** A limit that its user set is not ours to move. */
function isLimitOurs(pod: AgentPod['pod'], known: KnownSpec | undefined, { apply }: AllocationRules): boolean {
  const original = annotatedOriginal(pod.marks) ?? notedOriginal(known);
  return apply === 'limits' || (original !== undefined && original.limit === undefined);
}

/** Whether the pod has what was asked for, so that there is nothing to take back. */
function isMet(known: Desired, current: CpuSize, allocatable: number): boolean {
  const has = keepingDesired(current, allocatable);
  if (known.desiredCPURequest !== has.desiredCPURequest) return false;
  return known.limitPolicy === 'Keep' || known.desiredCPULimit === has.desiredCPULimit;
}

/**
 * What the loop remembers, where changes were not sent: those do not count as made, be it that they did not get through,
 * or that the very same was asked for before and is still to be done.
 * @param sent uids of pods.
 */
export function withoutUnsent(plan: NodePlan, before: NodeMemory, sent: ReadonlySet<string>): NodeMemory {
  const unsent = new Set(plan.writes.flatMap(({ uid }) => (sent.has(uid) ? [] : [uid])));
  if (unsent.size === 0) return plan.memory;
  return new Map(
    [...plan.memory].map(([uid, pod]) => [
      uid,
      unsent.has(uid) ? { ...pod, writes: before.get(uid)?.writes ?? [] } : pod,
    ]),
  );
}

/**
 * The operator's side: whether what a node's agent asks for one pod may be written now. Agents see their node, the
 * operator sees quotas, limits, autoscalers and budgets, and checks all of it again on fresh reads just before a write.
 */

import type { EpochMillis, Millicores, Millis } from '../../lib/units.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import { podRef } from '../../model/refs.ts';
import { limitRangeProblem } from '../../model/size-bounds.ts';
import type { QuotaRecord } from '../../model/sizing-records.ts';
import type { ResizeDecision } from '../size-decision.ts';
import { type AllocationPod, type CpuSize, chargedCpu, sizeOf } from './allocation-pod.ts';
import { type Bound, combineBounds, fromBelow } from './bounds.ts';
import type { Clamp } from './clamp.ts';
import { type ExclusionReason, exclusionOf, type PodHistory } from './eligibility.ts';
import { clusterHints, type PodFacts } from './hints.ts';
import { besideLimit } from './integrations/limit-range.ts';
import { judgeNode, type NodeCondition } from './integrations/node-conditions.ts';
import { type QuotaLedger, quotaShortfall } from './integrations/resource-quota.ts';
import { readMarks } from './marks.ts';
import type { PodTarget } from './node-input.ts';
import type { DesiredCpu } from './read-allocation.ts';
import type { AllocationRules } from './rules.ts';
import { isResizing } from './seat.ts';
import { sizeContainers } from './size-containers.ts';
import { userLimitsOf } from './user-limits.ts';
import { withdrawalOf } from './withdraw.ts';

/**
 * Everything that speaks for or against one write, of one instant; what is undefined is not known, and then nothing
 * grows.
 */
export interface AdmissionFacts {
  readonly pod: AllocationPod;
  readonly workload: WorkloadRef | undefined;
  readonly workloadUid: string | undefined;
  readonly facts: PodFacts;
  readonly history: PodHistory;
  /** Of the pod's namespace, read afresh; undefined: not known. */
  readonly quotas: readonly QuotaRecord[] | undefined;
  /** Of the namespace: what its quotas' figures do not show yet. */
  readonly ledger?: QuotaLedger | undefined;
  readonly node: {
    readonly allocatable: Millicores;
    readonly conditions: readonly NodeCondition[] | undefined;
    /** Sum over all its pods of what they are charged with (chargedCpu), this one included; undefined: not known. */
    readonly charged: Millicores | undefined;
  };
  /** The node's agent has not been heard of for too long. */
  readonly isStale: boolean;
  /** What is asked for may be from before the agent, or whoever decides this, was away: nothing changes for it. */
  readonly isOutdated: boolean;
  /** To this pod, by allocation. */
  readonly lastWriteAt: EpochMillis | undefined;
  /** A request that the kubelet said can never be granted; only lower ones are tried. */
  readonly infeasible?: Millicores | undefined;
  /** Nothing is written, whatever is decided. */
  readonly isDryRun?: boolean;
  readonly rules: AllocationRules;
  readonly now: EpochMillis;
}

/** Told in the status of the PodAllocation (docs/skip-reasons.md says what each means and what helps). */
export type HeldReason =
  | ExclusionReason
  | 'PodReplaced'
  | 'ForeignNode'
  | 'Stale'
  | 'NodeNotReady'
  | 'NodePressure'
  | 'DataUnknown'
  | 'LimitRangeConflict'
  | 'ResizeInFlight'
  | 'CapacityInFlight'
  | 'QuotaExceeded'
  | 'SafetyCheckFailed'
  | 'Spacing'
  | 'Infeasible'
  | 'Observe';

/** Nothing is written now. The pod stays as it is, and the status says why. */
export interface Held {
  readonly kind: 'held';
  readonly reason: HeldReason;
  readonly message: string;
  /** Undefined: until something changes. */
  readonly retryAfterMillis: Millis | undefined;
}

export type Admission =
  | { readonly kind: 'resize'; readonly decision: ResizeDecision; readonly clamps: readonly Clamp[] }
  /** The pod's spec is what is desired already. */
  | { readonly kind: 'settled'; readonly clamps: readonly Clamp[] }
  | Held;

const QUOTA_RETRY: Millis = 60_000;
const CAPACITY_RETRY: Millis = 1000;
const AGENT_RETRY: Millis = 1000;
/**
 * The largest step, as with MBCAS. What is further away takes several: refused, a pod that asked for a twentieth of
 * what it needs would never get any of it.
 */
const MOST_STEP: Millicores = 20_000;
const MOST_FACTOR = 10;
const SMALL: Millicores = 100;
/** A little less than the agents' own spacing, so that their ticks are never just too early. */
const SPACING_SLACK = 0.9;

/**
 * The last word of `decide` before the guards; pure. Does the pod take part and is enough known, is something to be
 * taken back, then bounds, sizes, and room. A withdrawal goes before all that is new, as a pending resize holds room
 * that others wait for.
 */
export function admitAllocation(desired: DesiredCpu, input: AdmissionFacts): Admission {
  const { pod, rules, now } = input;
  const refusal = refuse(desired, input);
  if (refusal !== undefined) return refusal;
  const withdrawal = withdrawalOf(pod, now);
  if (withdrawal !== undefined) {
    return {
      kind: 'resize',
      decision: decide(input, withdrawal.changes, withdrawal.why, { isWithdrawal: true }),
      clamps: [],
    };
  }
  if (isResizing(pod)) return held('ResizeInFlight', 'A resize of the pod is on its way', CAPACITY_RETRY);
  const current = sizeOf(pod);
  const { target, clamps } = withinBounds(desired, current, input);
  const ranges = input.facts.limitRanges === 'unknown' ? [] : input.facts.limitRanges;
  const changes = sizeContainers(pod, target, desired.usage, ranges, userLimitsOf(pod, rules));
  if (changes.length === 0) return { kind: 'settled', clamps };
  const after = sizeAfter(pod, changes);
  const objection = objectionTo(desired, after, current, input);
  if (objection !== undefined) return objection;
  if (rules.apply === 'observe') return held('Observe', 'allocation.apply is observe: nothing is written', undefined);
  const text = (size: CpuSize): string =>
    `${size.request}m${size.limit === undefined ? '' : ` (limit ${size.limit}m)`}`;
  const why = `CPU ${text(current)} -> ${text(after)} by the bargain of its node`;
  const isFunding = desired.urgent && after.request < current.request;
  return { kind: 'resize', decision: decide(input, changes, why, isFunding ? { isFunding } : {}), clamps };
}

function refuse({ podUid }: DesiredCpu, input: AdmissionFacts): Held | undefined {
  const { pod, history, rules, facts, node, now } = input;
  if (podUid !== undefined && podUid !== pod.uid) {
    return held('PodReplaced', `The allocation is for the pod with uid ${podUid}, this one is ${pod.uid}`, undefined);
  }
  const excluded = exclusionOf(pod, readMarks(pod.marks), history, rules);
  if (excluded !== undefined) return held(excluded, `The pod does not take part: ${excluded}`, undefined);
  if (input.isStale) return held('Stale', "The node's agent has not been heard of; nothing changes", undefined);
  const { frozenBecause } = judgeNode(node.conditions, now);
  if (frozenBecause !== undefined) return held(frozenBecause, 'The node is not Ready, or not known', undefined);
  const { limitRanges, hpas, pdbs } = facts;
  if (limitRanges === 'unknown' || hpas === 'unknown' || pdbs === 'unknown' || input.quotas === undefined) {
    return held('DataUnknown', 'Limits, quotas, autoscalers or budgets of the namespace are not known', CAPACITY_RETRY);
  }
  const problem = limitRangeProblem(limitRanges, pod.containers);
  // Admission would refuse any resize, also one that does not touch what is wrong, be it memory (k/k#142171).
  return problem === undefined
    ? undefined
    : held('LimitRangeConflict', `LimitRange ${problem.name} allows no resize: ${problem.detail}`, undefined);
}

/** What the agent could not know narrows what it asked for. */
function withinBounds(
  desired: DesiredCpu,
  current: CpuSize,
  { pod, facts, rules, now }: AdmissionFacts,
): { readonly target: PodTarget; readonly clamps: readonly Clamp[] } {
  const hints = clusterHints(pod, facts, rules, now);
  const isLimit = rules.apply === 'limits';
  const asked = isLimit ? desired.limit : desired.request;
  const { limitPolicy } = desired;
  const held = isLimit ? (current.limit ?? current.request) : current.request;
  const isKept = limitPolicy === 'Keep';
  // A limit that stays is no step, whatever stands in its place; and no request follows what that would be cut to.
  const steps = isLimit && isKept ? [] : [stepOf(held)];
  const beside = besideLimit(hints.bounds, isKept);
  const bounds = isLimit && isKept && pod.qos !== 'Guaranteed' ? fromBelow(beside) : beside;
  const { min: share, clamps } = combineBounds(asked, asked, [...bounds, ...steps]);
  if (isLimit) {
    const { min: least, max: most } = stepOf(current.request);
    // A limit that a guard keeps up takes the request along only as far as it is there, or is asked for.
    const wanted = Math.min(Math.floor((desired.request * share) / asked), Math.max(current.request, desired.request));
    const scaled = Math.max(least, Math.min(most, wanted));
    const request = hints.isRequestFrozen
      ? current.request
      : pod.qos === 'Guaranteed'
        ? share
        : Math.min(scaled, share);
    // Burstable stays so only while the request is below the limit.
    const limit = Math.max(share, pod.qos === 'Guaranteed' ? request : request + 1);
    return { target: { request, limit, limitPolicy }, clamps };
  }
  if (pod.qos === 'Guaranteed') return { target: { request: share, limit: share, limitPolicy: 'Apply' }, clamps };
  const kept = isKept ? (current.limit ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  const request = Math.min(share, Math.max(current.request, kept - 1));
  const least = Math.max(request + 1, hints.limitMin ?? 0);
  return { target: { request, limit: Math.max(desired.limit, least), limitPolicy }, clamps };
}

/** From what the pod has, in one step. */
function stepOf(held: Millicores): Bound & { readonly min: Millicores; readonly max: Millicores } {
  const max = Math.min(held + MOST_STEP, MOST_FACTOR * Math.max(held, SMALL));
  return { layer: 'hard', reason: 'StepLimit', min: Math.max(0, held - MOST_STEP), max };
}

/** What there is no room, or no time, for now. */
function objectionTo(desired: DesiredCpu, after: CpuSize, current: CpuSize, input: AdmissionFacts): Held | undefined {
  const { pod, node, quotas, ledger, rules, now, lastWriteAt, infeasible } = input;
  if (input.isOutdated) {
    return held('Stale', "The node's agent has yet to say that this is what it wants now", AGENT_RETRY);
  }
  const growth = after.request - current.request;
  if (growth > 0 && desired.request > node.allocatable) {
    return held('SafetyCheckFailed', `${desired.request}m are more than the node has, ${node.allocatable}m`, undefined);
  }
  if (growth > 0 && judgeNode(node.conditions, now).isUnderPressure) {
    return held('NodePressure', 'The node is under pressure: nothing on it grows', CAPACITY_RETRY);
  }
  if (infeasible !== undefined && growth > 0 && after.request >= infeasible) {
    return held('Infeasible', `The kubelet can never grant ${infeasible}m; only less is tried`, undefined);
  }
  const spacing = growth > 0 ? rules.write.spacingUpMillis : rules.write.spacingDownMillis;
  // A write ahead of now is from before the machine's clock was set back.
  const sinceMillis = lastWriteAt === undefined || lastWriteAt > now || desired.urgent ? undefined : now - lastWriteAt;
  if (sinceMillis !== undefined && sinceMillis < SPACING_SLACK * spacing) {
    const wait = SPACING_SLACK * spacing - sinceMillis;
    return held('Spacing', `Written ${Math.round(sinceMillis / 1000)} s ago`, wait);
  }
  const shortfall = quotaShortfall(
    pod,
    { cpuRequest: growth, cpuLimit: (after.limit ?? 0) - (current.limit ?? 0) },
    quotas,
    ledger,
  );
  if (shortfall !== undefined) {
    return held(
      'QuotaExceeded',
      `${shortfall.resource}: ${shortfall.room ?? 'an unknown amount'} of room left`,
      QUOTA_RETRY,
    );
  }
  // Where nothing is written no decrease will ever make room, and none is waited for.
  if (rules.apply === 'observe' || input.isDryRun === true) return undefined;
  // By what is charged and not by what is requested: a decrease on its way is still charged, and a raise must not be
  // paid for twice.
  const charged = chargedCpu(pod) - pod.overhead;
  const more = Math.max(0, after.request - charged);
  if (more === 0) return undefined;
  const { charged: onNode } = node;
  if (onNode === undefined || onNode + more > node.allocatable) {
    const free = onNode === undefined ? 'unknown' : `${node.allocatable - onNode}m`;
    return held('CapacityInFlight', `${more}m more are not free yet (${free}); decreases come first`, CAPACITY_RETRY);
  }
  return undefined;
}

function sizeAfter(pod: AllocationPod, changes: readonly SizeChange[]): CpuSize {
  const to = new Map(changes.map((change) => [change.container, change.to]));
  return sizeOf({
    containers: pod.containers.map((each) => ({ ...each, size: { ...each.size, ...to.get(each.name) } })),
  });
}

function decide(
  { pod, workload, workloadUid }: AdmissionFacts,
  changes: readonly SizeChange[],
  summary: string,
  marks: Pick<ResizeDecision, 'isFunding' | 'isWithdrawal'>,
): ResizeDecision {
  const before = sizeOf(pod);
  const after = sizeAfter(pod, changes);
  return {
    kind: 'resize',
    engine: 'allocation',
    workload,
    workloadUid,
    pod: podRef(pod),
    changes,
    ...marks,
    why: {
      summary,
      numbers: {
        requestBefore: before.request,
        requestAfter: after.request,
        ...(before.limit !== undefined && { limitBefore: before.limit }),
        ...(after.limit !== undefined && { limitAfter: after.limit }),
      },
    },
  };
}

function held(reason: HeldReason, message: string, retryAfterMillis: Millis | undefined): Held {
  return { kind: 'held', reason, message, retryAfterMillis };
}

/** One pod at the table: what it has, wants and may have, and with what weight it bargains. */
import type { EpochMillis, Millicores } from '../../lib/units.ts';
import { type AllocationPod, actualSizeOf, type CpuSize, sizeOf } from './allocation-pod.ts';
import { type Bound, type Box, combineBounds, holdAt } from './bounds.ts';
import { ceilingFactor } from './ceiling.ts';
import type { Clamp } from './clamp.ts';
import { type Demand, nextDemand } from './demand.ts';
import { applyMetric } from './integrations/custom-metrics.ts';
import { besideLimit } from './integrations/limit-range.ts';
import type { NodeState } from './integrations/node-conditions.ts';
import { priorityFactor } from './integrations/priority-class.ts';
import { judgeProbes, type ProbeMemory } from './integrations/probes.ts';
import { type PodMarks, readMarks } from './marks.ts';
import { type NodePod, type PodHints, type PodMemory, unhindered } from './node-input.ts';
import { kernelFloor } from './problem.ts';
import type { AllocationRules } from './rules.ts';

/** One pod at the table: what it has, what it may end at and what it wants. All in CPU of the whole pod. */
export interface Seat {
  readonly input: NodePod;
  readonly pod: AllocationPod;
  readonly marks: PodMarks;
  readonly hints: PodHints;
  readonly current: CpuSize;
  readonly original: CpuSize;
  /** What it has of what is bargained for: the request, or the limit with `apply: limits`. */
  readonly share: Millicores;
  /** As much of it stays whatever is bargained: not there for others. */
  readonly kept: Millicores;
  readonly box: Box;
  readonly want: Millicores;
  readonly demand: Demand | undefined;
  readonly weight: number;
  readonly probes: ProbeMemory;
  /** It has yet to become ready, and gets no ceiling meanwhile. */
  readonly isComingUp: boolean;
  readonly clamps: readonly Clamp[];
}

export interface Table {
  readonly node: NodeState;
  readonly rules: AllocationRules;
  readonly now: EpochMillis;
}

/** An annotated weight is at most this, and at least one by this: nobody bargains the others to nothing. */
const WEIGHT_SPAN = 64;

/** Everything about one pod that does not depend on the others; the bargain follows. */
export function takeSeat(input: NodePod, memory: PodMemory | undefined, table: Table): Seat {
  const { pod, measured } = input;
  const { rules, now } = table;
  const marks = marksOf(input);
  const current = sizeOf(pod);
  const original = input.original ?? current;
  const share = shareIn(current, rules);
  const hints = input.hints === undefined || input.hints === 'unknown' ? unhindered : input.hints;
  const limit = actualSizeOf(pod)?.limit ?? current.limit;
  const level = rules.apply === 'limits' ? rules.demand.levelOfLimits : rules.demand.level;
  // Limits follow wants closely, requests are lowered only to pay for others.
  const isInherited = rules.apply === 'limits' && isInheritedPod(input, memory);
  const context = { share, limit, isInherited, now };
  const demand =
    measured === undefined ? undefined : nextDemand(memory?.demand, measured, context, { ...rules.demand, level });
  const { usage, throttledRatio } = measured ?? { usage: undefined, throttledRatio: undefined };
  const probes = judgeProbes(
    pod,
    { held: { share, limit: current.limit }, first: shareIn(original, rules), usage, throttledRatio },
    memory?.probes,
    rules.startupGraceMillis,
    now,
  );
  const measuredWant = demand?.want ?? memory?.demand?.want ?? share;
  const metric = applyMetric(measuredWant, input.metric, now);
  const want = Math.max(Math.ceil(metric.want * probes.boost), probes.memory.rollback?.to ?? 0);
  const clamps: Clamp[] = [...metric.clamps];
  if (probes.boost > 1) clamps.push({ reason: 'UnreadyBoost', what: 'want', before: metric.want, after: want });
  const weighed = weigh(pod, marks, hints, original, rules);
  const hasCeiling = ceilingFactor({ marks, original }, memory?.greed.isGreedy === true, rules) !== undefined;
  // One that was lifted above the user's follows the request down.
  const isLimitKept = !hasCeiling && (current.limit ?? 0) <= (original.limit ?? 0);
  const isComingUp = probes.isComingUp && !marks.isBatch;
  const fixed = rules.apply === 'limits' ? besideRequest(current, hints, isComingUp) : [];
  const sources = { input, pod, hints, original, share, table };
  const firm = [...firmBounds(sources, isLimitKept), ...fixed];
  const claim = claimOf(input, marks, original, rules);
  const box = combineBounds(claim.amount, want, [...firm, ...softBounds(sources, marks), ...probes.bounds]);
  return {
    input,
    pod,
    marks,
    hints,
    current,
    original,
    share,
    kept: Math.min(share, combineBounds(0, 0, firm).min),
    box,
    want,
    demand,
    weight: weighed.weight,
    probes: probes.memory,
    isComingUp,
    clamps: [...clamps, ...weighed.clamps, ...claim.clamps, ...box.clamps],
  };
}

/** What people wrote on the pod. */
export function marksOf({ pod, marks }: NodePod): PodMarks {
  return marks ?? readMarks(pod.marks);
}

/** What of a size is bargained for. */
export function shareIn({ request, limit = request }: CpuSize, { apply }: Pick<AllocationRules, 'apply'>): Millicores {
  return apply === 'limits' ? limit : request;
}

/** Whoever planned for the pod before it was seen first is gone, and with him what he knew. */
export function isInheritedPod({ isPlanned = false }: NodePod, memory: PodMemory | undefined): boolean {
  return memory === undefined ? isPlanned : memory.isInherited === true;
}

/** An annotation, else what rightsizing advises, else a part of what the pod requested at first. */
function claimOf(
  { pod, advice }: NodePod,
  { minCpu }: PodMarks,
  { request }: CpuSize,
  rules: AllocationRules,
): { readonly amount: Millicores; readonly clamps: readonly Clamp[] } {
  if (minCpu !== undefined) {
    const most = mayTakeFromOthers(pod, rules) ? minCpu : Math.min(minCpu, request);
    const amount = Math.max(most, advice ?? 0);
    return { amount, clamps: amount < minCpu ? [tenantBound('min', minCpu, amount)] : [] };
  }
  const share = Math.max(rules.baseline, Math.ceil(rules.claimShare * request));
  return { amount: advice === undefined ? Math.min(request, share) : Math.ceil(advice), clamps: [] };
}

/** Whether what the pod says of itself may cost the other pods of the node something. */
function mayTakeFromOthers({ namespace }: AllocationPod, { tenantAnnotations, weight }: AllocationRules): boolean {
  return tenantAnnotations === 'any' || weight.trustedNamespaces.includes(namespace);
}

function tenantBound(what: Clamp['what'], before: number, after: number): Clamp {
  return { reason: 'TenantBound', what, before, after };
}

function weigh(
  pod: AllocationPod,
  marks: PodMarks,
  { spread, affinity }: PodHints,
  original: CpuSize,
  allocation: AllocationRules,
): { weight: number; clamps: readonly Clamp[] } {
  const { weight: rules } = allocation;
  const base = rules.base === 'equal' ? 1 : Math.max(1, original.request) / 1000;
  const asked = marks.weight ?? 1;
  const most = mayTakeFromOthers(pod, allocation) ? WEIGHT_SPAN : 1;
  const own = Math.min(most, Math.max(1 / WEIGHT_SPAN, asked));
  const isTrusted = rules.trustedNamespaces.includes(pod.namespace);
  const priority = priorityFactor(pod.priority, rules.priorityCurve, marks.priorityMultiplier, isTrusted);
  const before = base * own * priority.factor;
  const clamps: Clamp[] = [...priority.clamps];
  if (most === 1 && asked > 1) clamps.push(tenantBound('weight', asked, own));
  if (spread !== 1) clamps.push({ reason: 'TopologySpread', what: 'weight', before, after: before * spread });
  if (affinity !== 1) {
    clamps.push({ reason: 'NodeAffinity', what: 'weight', before: before * spread, after: before * spread * affinity });
  }
  return { weight: before * spread * affinity, clamps };
}

interface BoundSources {
  readonly input: NodePod;
  readonly pod: AllocationPod;
  readonly hints: PodHints;
  readonly original: CpuSize;
  readonly share: Millicores;
  readonly table: Table;
}

/**
 * Where the share is the limit: what the pod requests stays with it all the same while that must not change, and others
 * must not be promised any of it.
 */
function besideRequest({ request, limit }: CpuSize, { isRequestFrozen }: PodHints, isComingUp: boolean): Bound[] {
  if (isComingUp && limit === undefined) return [holdAt(request, 'Readiness')];
  return isRequestFrozen ? [{ layer: 'hard', reason: 'HorizontalPodAutoscaler', min: request + 1 }] : [];
}

/**
 * Hold whatever is planned: the operator or the API server would refuse what is outside, or nothing is written for such
 * a pod at all. What they keep of a share pays for no other (adr/0037).
 */
function firmBounds({ input, pod, hints, original, share, table }: BoundSources, isLimitKept: boolean): Bound[] {
  const { node, rules } = table;
  const bounds: Bound[] = [{ layer: 'hard', reason: 'KernelMinimum', min: leastOf(pod) }];
  if (node.frozenBecause !== undefined) bounds.push(holdAt(share, node.frozenBecause));
  // Where the share is the limit and there is none yet, what must not grow would get what it requests for one.
  const isUnlimited = rules.apply === 'limits' && sizeOf(pod).limit === undefined;
  if (node.isUnderPressure && !isUnlimited) bounds.push({ layer: 'hard', reason: 'NodePressure', max: share });
  if (isResizing(pod))
    bounds.push(
      isUnlimited ? { layer: 'hard', reason: 'ResizeInFlight', min: share } : holdAt(share, 'ResizeInFlight'),
    );
  if (input.measured === undefined || input.hints === 'unknown') bounds.push(holdAt(share, 'DataUnknown'));
  const keepsLimit = rules.apply !== 'limits' && rules.userLimits === 'keep' && pod.qos !== 'Guaranteed';
  const userLimit = keepsLimit ? (original.limit ?? partlyLimited(pod)) : undefined;
  if (userLimit !== undefined) bounds.push({ layer: 'hard', reason: 'UserLimit', max: userLimit });
  bounds.push(...besideLimit(hints.bounds, isLimitKept));
  return bounds;
}

/** Which the bargain alone heeds. */
function softBounds({ hints, share, table: { rules } }: BoundSources, { maxCpu }: PodMarks): Bound[] {
  const bounds: Bound[] = [];
  if (maxCpu !== undefined) bounds.push({ layer: 'annotation', reason: 'MaxCpu', max: maxCpu });
  const down = Math.min(rules.stepDown, hints.step ?? 1);
  const up = Math.min(rules.stepUp, hints.step ?? Number.POSITIVE_INFINITY);
  bounds.push({ layer: 'step', reason: 'StepLimit', min: Math.floor(share * (1 - down)) });
  // At least the smallest change, or a small pod could never grow.
  const most = Math.max(share + rules.write.minChange, Math.ceil(share * (1 + up)));
  if (Number.isFinite(up)) bounds.push({ layer: 'step', reason: 'StepLimit', max: most });
  return bounds;
}

/** Each container that requests something keeps the least. */
function leastOf({ containers }: AllocationPod): Millicores {
  const least = containers.reduce((sum, { size }) => sum + Math.min(size.cpuRequest ?? 0, kernelFloor), 0);
  return Math.max(kernelFloor, least);
}

/**
 * The most that can be requested where some containers have limits, so their user's, and no other has a request that
 * could grow; undefined: anything. More would be reserved for the pod and never be given to it.
 */
function partlyLimited({ containers }: AllocationPod): Millicores | undefined {
  if (containers.every(({ size }) => size.cpuLimit !== undefined)) return undefined;
  const canGrow = containers.some(({ size }) => size.cpuLimit === undefined && size.cpuRequest !== undefined);
  return canGrow ? undefined : containers.reduce((sum, { size }) => sum + (size.cpuLimit ?? 0), 0);
}

/** A resize is on its way: pending, in progress, or not yet seen by the kubelet. */
export function isResizing({ resize, generation, observedGeneration }: AllocationPod): boolean {
  if (resize.pending !== undefined || resize.inProgress !== undefined) return true;
  return observedGeneration !== undefined && observedGeneration < generation;
}

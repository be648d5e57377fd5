/**
 * The recommendation for all containers of a workload: each on its own, then what they may have together, then what to
 * do now.
 */
import type { EpochMillis } from '../../lib/units.ts';
import { qosClassOf } from '../../model/pod-size.ts';
import { allowedRange, givenLimit, withLimitDefaults } from '../../model/size-bounds.ts';
import type { ContainerSize, ContainerSpecRecord, SizedWorkload } from '../../model/sizing-records.ts';
import type { UsageProfile } from '../../model/usage-profile.ts';
import type { UsageWindow } from '../../model/usage-window.ts';
import { holdAdvice, noAdvice, type ResourceAdvice, wasKilled } from './advice.ts';
import { formatAmount, type ResourceName } from './amount-text.ts';
import { madeNow, settle } from './finish.ts';
import { fitPod, fitQuotas, type Surroundings } from './fit-surroundings.ts';
import { hpaTargetOf, respectHpa, type ScaleBasis } from './hpa-stage.ts';
import type { FitPart } from './joint-fit.ts';
import { keepBurstable } from './keep-burstable.ts';
import { fitLimitRange } from './limit-range-stage.ts';
import type { LimitRule, RightsizingPolicy } from './policy.ts';
import type { CurrentResource, LearnedFloors, RecommendInput } from './recommend.ts';
import { shapeCpu } from './recommend-cpu.ts';
import { shapeMemory } from './recommend-memory.ts';
import { isShaped, type Shaped } from './shape.ts';

/** What is known of one container besides its sizes. */
export interface ContainerKnowledge {
  readonly profile: UsageProfile | undefined;
  readonly window: UsageWindow | undefined;
  readonly floors: LearnedFloors | undefined;
  /** When Stowage last changed each resource. */
  readonly lastChange: { readonly cpu: EpochMillis | undefined; readonly memory: EpochMillis | undefined };
}

export interface WorkloadQuestion {
  readonly workload: Pick<SizedWorkload, 'apiVersion' | 'kind' | 'namespace' | 'name' | 'owner' | 'isNeverGuaranteed'>;
  /** With the sizes in force: those of the template, or those that were applied to its pods. */
  readonly containers: readonly ContainerSpecRecord[];
  readonly knowledgeOf: (container: string) => ContainerKnowledge;
  readonly policy: RightsizingPolicy;
  readonly around: Surroundings;
  /** The allocation engine shares out the node's CPU among these pods: their live CPU is its to write. */
  readonly isCpuAllocated: boolean;
  /** Why usage cannot be read at present; undefined: it can. Advice goes on by what is remembered. */
  readonly unread?: string | undefined;
  readonly now: EpochMillis;
}

/** Advice for one container, beside what it was given about. */
export interface SizedAdvice {
  readonly container: string;
  readonly current: ContainerSize;
  readonly cpu: ResourceAdvice;
  readonly memory: ResourceAdvice;
}

/**
 * One entry a container, in the order of `containers`; pure, and the same for equal input. The order of the stages:
 * LimitRange of the container, then what the pod may have together (LimitRange, node, quota), step and gate,
 * autoscaler, QoS class. Each may lower what the ones before it said, and the last may hold it back; none raises a
 * request above a limit that stays.
 */
export function recommendWorkload(question: WorkloadQuestion): readonly SizedAdvice[] {
  const { workload, containers, knowledgeOf, policy, now } = question;
  const mayBeGuaranteed = workload.isNeverGuaranteed !== true;
  // Of pods, which have what the template leaves to a LimitRange: that is what is lowered, and what autoscalers go by.
  const completed = withLimitDefaults(question.around.limitRanges, containers);
  const isGuaranteed = mayBeGuaranteed && qosClassOf(completed.map(({ size }) => size)) === 'Guaranteed';
  const rules = rulesInForce(policy, isGuaranteed);
  const bornWith = (index: number): ContainerSize => completed[index]?.size ?? {};
  const inputs = containers.map(({ name, size }, index) => {
    const { profile, window, floors, lastChange } = knowledgeOf(name);
    if (profile === undefined) return undefined;
    const cpu = currentOf('cpu', bornWith(index), size.cpuLimit, lastChange.cpu);
    const memory = currentOf('memory', bornWith(index), size.memoryLimit, lastChange.memory);
    return { profile, window, floors, cpu, memory, policy: rules, now };
  });
  // Of both together a node may have too little: memory goes first, as a pod without it is killed.
  const ofPods = { ...question, containers: completed };
  const memory = adviseTogether(ofPods, inputs, 'memory', shapeMemory);
  const cpu = adviseTogether(ofPods, inputs, 'cpu', shapeCpu, memory);
  const advice = containers.map(({ name, size }, index): SizedAdvice => {
    const finished = (resource: ResourceName, advice: ResourceAdvice | undefined): ResourceAdvice => {
      const known = advice ?? noAdvice('NoData', `no ${resource === 'cpu' ? 'CPU' : 'memory'} usage is known`);
      const target = hpaTargetOf(question.around.hpas, question.workload, name, resource);
      const beside = target?.isOfPod === true && policy.hpa === 'KeepScalePoint' ? besideOf(question, resource) : 0;
      const basis = scaleBasis(resource, completed, resource === 'cpu' ? cpu : memory, beside);
      const current = requestOf(resource, bornWith(index));
      const respected = respectHpa(known, resource, policy.hpa, target, current, basis);
      const read = holdUnread(respected, current, question.unread);
      return isGuaranteed ? keepGuaranteed(read, resource, current, policy) : read;
    };
    const forCpu = finished('cpu', cpu[index]);
    return {
      container: name,
      current: size,
      cpu: question.isCpuAllocated && forCpu.isDue ? holdAdvice(forCpu, 'CpuAllocated', ALLOCATED) : forCpu,
      memory: finished('memory', memory[index]),
    };
  });
  return mayBeGuaranteed ? keepBurstable(advice, completed) : advice;
}

const ALLOCATED = 'the allocation engine shares out the CPU of these pods: this is their claim, not written to them';

/** A limit without a request is also the request: so the API server completes it in pods. */
export function requestOf(resource: ResourceName, size: ContainerSize): number | undefined {
  return resource === 'cpu' ? (size.cpuRequest ?? size.cpuLimit) : (size.memoryRequest ?? size.memoryLimit);
}

/** What the containers request together, and would if all of the advice were followed. @param beside what others do. */
function scaleBasis(
  resource: ResourceName,
  containers: readonly ContainerSpecRecord[],
  advice: readonly (ResourceAdvice | undefined)[],
  beside = 0,
): ScaleBasis {
  let [current, advised] = [beside, beside];
  for (const [index, { size }] of containers.entries()) {
    const now = requestOf(resource, size) ?? 0;
    current += now;
    advised += advice[index]?.request ?? now;
  }
  return { current, advised };
}

/** What the pods request in containers that the template does not have: for an autoscaler it counts as well. */
function besideOf({ around }: WorkloadQuestion, resource: ResourceName): number {
  return around.beside?.().sizes[`${resource}Request`] ?? 0;
}

function currentOf(
  resource: ResourceName,
  born: ContainerSize,
  limit: number | undefined,
  lastChangeAt: EpochMillis | undefined,
): CurrentResource {
  return { request: requestOf(resource, born), limit, lastChangeAt };
}

/** Limits that may not move are kept; in a Guaranteed pod they move with the request, or nothing does. */
function rulesInForce(policy: RightsizingPolicy, isGuaranteed: boolean): RightsizingPolicy {
  const together: LimitRule = { policy: 'Multiplier', factor: 1 };
  const keep: LimitRule = { policy: 'Keep' };
  if (policy.mayChangeLimits && !isGuaranteed) return policy;
  const limit = policy.mayChangeLimits ? together : keep;
  return { ...policy, cpu: { ...policy.cpu, limit }, memory: { ...policy.memory, limit } };
}

function adviseTogether(
  question: WorkloadQuestion,
  inputs: readonly (RecommendInput | undefined)[],
  resource: ResourceName,
  shapeOne: (input: RecommendInput) => Shaped | ResourceAdvice,
  /** What is advised of the other resource, where that is known. */
  otherAdvice: readonly (ResourceAdvice | undefined)[] = [],
): readonly (ResourceAdvice | undefined)[] {
  const { workload, containers, around, policy } = question;
  const allowed = allowedRange(around.limitRanges, 'Container', resource);
  const given = givenLimit(around.limitRanges, resource);
  const shaped = inputs.map((input) => {
    const result = input === undefined ? undefined : shapeOne(input);
    return result !== undefined && isShaped(result) ? fitLimitRange(result, resource, allowed, given) : result;
  });
  let parts: readonly FitPart[] = shaped.map((result, index) => {
    const current = currentRequest(index) ?? 0;
    const own = result !== undefined && isShaped(result) && !isHeldByHpa(index) ? result : undefined;
    return { shaped: own !== undefined && own.value < current ? freeing(own) : own, current };
  });
  const other = scaleBasis(resource === 'cpu' ? 'memory' : 'cpu', containers, otherAdvice);
  if (isGrowing(parts)) parts = fitPod(parts, question, resource, other);
  if (isGrowing(parts)) parts = fitQuotas(parts, question, resource);
  return shaped.map((result, index) => {
    if (result === undefined || !isShaped(result)) return result;
    const { shaped: fitted = result, current = 0 } = parts[index] ?? {};
    // Nothing of what falls is fitted: how far it is to go in the end is told as well.
    return heldByQuota(settle(result.value < current ? result : fitted));
  });

  /** What is held back frees nothing: who counted on it would be refused all of a raise, of which there is room for a part. */
  function freeing(lowered: Shaped): Shaped | undefined {
    return question.unread === undefined ? madeNow(lowered) : undefined;
  }

  function currentRequest(index: number): number | undefined {
    return requestOf(resource, containers[index]?.size ?? {});
  }

  /** Whoever has no request yet is given one, whatever an autoscaler goes by. */
  function isHeldByHpa(index: number): boolean {
    if (policy.hpa === 'Ignore' || currentRequest(index) === undefined) return false;
    return hpaTargetOf(around.hpas, workload, containers[index]?.name ?? '', resource) !== undefined;
  }
}

function isGrowing(parts: readonly FitPart[]): boolean {
  return parts.some(({ shaped, current }) => shaped !== undefined && shaped.value > current);
}

/**
 * Property 7: nothing begins on usage that cannot be read any more. Of a kill for want of memory the pod itself tells,
 * so the raise it asks for waits for no source.
 */
function holdUnread(advice: ResourceAdvice, current: number | undefined, unread: string | undefined): ResourceAdvice {
  if (unread === undefined || !advice.isDue) return advice;
  return wasKilled(advice) && (advice.request ?? 0) > (current ?? 0)
    ? advice
    : holdAdvice(advice, 'UsageUnread', unread);
}

/** What a quota leaves nothing of is no small change: somebody has to raise the quota. */
function heldByQuota(advice: ResourceAdvice): ResourceAdvice {
  const isCut = advice.notes.some(({ stage }) => stage === 'quota');
  return isCut && advice.held === 'WithinMinChange' ? { ...advice, held: 'QuotaExceeded' } : advice;
}

/** The QoS class of a running pod cannot change, and must not change with a new template either (KEP-1287). */
function keepGuaranteed(
  advice: ResourceAdvice,
  resource: ResourceName,
  current: number | undefined,
  policy: RightsizingPolicy,
): ResourceAdvice {
  const { request, limit } = advice;
  if (!advice.isDue || request === undefined) return advice;
  if (!policy.mayChangeLimits || limit === undefined) {
    const mend = policy.mayChangeLimits
      ? 'a LimitRange gives them their limits: write limits into the template'
      : 'the policy keeps limits: set updateRequestsOnly to false';
    return holdAdvice(advice, 'GuaranteedKept', `the pods are Guaranteed, and ${mend}`);
  }
  const both = Math.max(request, limit);
  if (both > policy[resource].bounds.max) {
    const text = `the limit has to stay at ${formatAmount(resource, both)}, above the maximum of the policy`;
    return holdAdvice(advice, 'MemoryDecreaseUnsafe', text);
  }
  // A decrease that the limit makes none of, or a raise, which nobody has asked whether there is room for.
  if (current !== undefined && request < current && both >= current) {
    const text = `the limit, and the request with it, has to stay at ${formatAmount(resource, both)}`;
    return holdAdvice(advice, 'MemoryDecreaseUnsafe', text);
  }
  return { ...advice, request: both, limit: both };
}

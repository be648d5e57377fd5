/**
 * The spec of a PodAllocation in a third of the memory of a plain one: of ten thousand most differ in a few amounts
 * only. What they have in common is one interned value, what is a pod's own is one text, read when it is asked for.
 */
import type { AllocationDecision, PodAllocationSpec } from '../api/pod-allocation.ts';

type OwnOfSpec = 'podName' | 'podUID' | 'desiredCPURequest' | 'desiredCPULimit' | 'renewTime' | 'decision';
type OwnOfDecision = 'claim' | 'want' | 'cpuUsage' | 'throttledRatio' | 'shadowPriceCPU' | 'credits' | 'containers';

/** What allocations have in common with others of their node and template. */
export interface AllocationTerms {
  readonly spec: Omit<PodAllocationSpec, OwnOfSpec>;
  readonly decision: Omit<AllocationDecision, OwnOfDecision> | undefined;
  /** Names of the measured containers. */
  readonly containers: readonly string[] | undefined;
}

/** An allocation's own values; as a text without names, hence the tuples. Null stands for one that is not there. */
type Own = readonly [
  renewTime: string | null,
  claim: string | null,
  want: string | null,
  usage: string | null,
  throttled: number | null,
  price: number | null,
  credits: number | null,
  containers: readonly (readonly [usage: string, throttled: number | null])[],
];

/** What a record keeps of a spec. */
export interface CompactSpec extends Pick<PodAllocationSpec, 'podName' | 'desiredCPURequest' | 'desiredCPULimit'> {
  readonly podUID: string | undefined;
  readonly terms: AllocationTerms;
  /** See {@link ownText}. */
  readonly own: string;
}

/** The part of a spec to intern: pods of one template on one node have it in common while nothing happens to them. */
export function termsOf(spec: PodAllocationSpec): AllocationTerms {
  const {
    podName: _name,
    podUID: _uid,
    desiredCPURequest: _request,
    desiredCPULimit: _limit,
    renewTime: _time,
    decision,
    ...rest
  } = spec;
  if (decision === undefined) return { spec: rest, decision, containers: undefined };
  const {
    claim: _claim,
    want: _want,
    cpuUsage: _usage,
    throttledRatio: _ratio,
    shadowPriceCPU: _price,
    credits: _credits,
    containers,
    ...shared
  } = decision;
  return { spec: rest, decision: shared, containers: containers?.map(({ name }) => name) };
}

/** What else {@link termsOf} leaves out, but the pod and what is desired of it. */
export function ownText({ renewTime, decision = {} }: PodAllocationSpec): string {
  const { claim, want, cpuUsage, throttledRatio, shadowPriceCPU, credits, containers = [] } = decision;
  const own: Own = [
    renewTime ?? null,
    claim ?? null,
    want ?? null,
    cpuUsage ?? null,
    throttledRatio ?? null,
    shadowPriceCPU ?? null,
    credits ?? null,
    containers.map((each) => [each.cpuUsage, each.throttledRatio ?? null]),
  ];
  return JSON.stringify(own);
}

/** The spec as it was, absent values absent. */
export function plainSpec(compact: CompactSpec): PodAllocationSpec {
  const { podName, podUID, desiredCPURequest, desiredCPULimit, terms, own } = compact;
  // Written by ownText.
  const [renewTime, ...measured]: Own = JSON.parse(own);
  return {
    ...terms.spec,
    podName,
    ...(podUID !== undefined && { podUID }),
    desiredCPURequest,
    desiredCPULimit,
    ...(renewTime !== null && { renewTime }),
    ...(terms.decision !== undefined && { decision: decisionOf(terms, measured) }),
  };
}

type Measured = Own extends readonly [unknown, ...infer Rest] ? Rest : never;

/** Names and values of containers are put together again by their order. */
function decisionOf({ decision, containers }: AllocationTerms, measured: Measured): AllocationDecision {
  const [claim, want, cpuUsage, throttledRatio, shadowPriceCPU, credits, byContainer] = measured;
  return {
    ...decision,
    ...(claim !== null && { claim }),
    ...(want !== null && { want }),
    ...(cpuUsage !== null && { cpuUsage }),
    ...(throttledRatio !== null && { throttledRatio }),
    ...(shadowPriceCPU !== null && { shadowPriceCPU }),
    ...(credits !== null && { credits }),
    ...(containers !== undefined && {
      containers: byContainer.map(([usage, throttled], index) => ({
        name: containers[index] ?? '',
        cpuUsage: usage,
        ...(throttled !== null && { throttledRatio: throttled }),
      })),
    }),
  };
}

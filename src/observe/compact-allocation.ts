/**
 * The spec of a PodAllocation in a fifth of the memory of a plain one: of ten thousand most differ in a few amounts
 * only. What they have in common is one interned value, what is a pod's own are numbers in a text that many share, put
 * together when it is asked for.
 */
import type { AllocationDecision, PodAllocationSpec } from '../api/pod-allocation.ts';
import { joinNumbers, type NumberedText, splitNumbers } from '../lib/numbered-text.ts';

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
  request: string,
  limit: string,
  claim: string | null,
  want: string | null,
  throttled: number | null,
  price: number | null,
  credits: number | null,
  containers: readonly (readonly [usage: string, throttled: number | null])[],
];

/** What a record keeps of a spec. */
export interface CompactSpec extends Pick<PodAllocationSpec, 'podName'> {
  readonly podUID: string | undefined;
  readonly terms: AllocationTerms;
  readonly usage: PackedUsage;
  /** See {@link ownText}. */
  readonly own: NumberedText;
}

/** CPU of the pod as its agent measured it: millicores where that says it all, as agents write it. */
export type PackedUsage = string | number | undefined;

export function packUsage(usage: string | undefined): PackedUsage {
  const millis = usage !== undefined && /^\d{1,9}m$/.test(usage) ? Number.parseInt(usage, 10) : undefined;
  return millis !== undefined && `${millis}m` === usage ? millis : usage;
}

export function unpackUsage(usage: PackedUsage): string | undefined {
  return typeof usage === 'number' ? `${usage}m` : usage;
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

/** What else {@link termsOf} leaves out, but the pod and its usage: the pattern is to be interned. */
export function ownText(spec: PodAllocationSpec): NumberedText {
  const { renewTime, desiredCPURequest, desiredCPULimit, decision = {} } = spec;
  const { claim, want, throttledRatio, shadowPriceCPU, credits, containers = [] } = decision;
  const own: Own = [
    renewTime ?? null,
    desiredCPURequest,
    desiredCPULimit,
    claim ?? null,
    want ?? null,
    throttledRatio ?? null,
    shadowPriceCPU ?? null,
    credits ?? null,
    containers.map((each) => [each.cpuUsage, each.throttledRatio ?? null]),
  ];
  return splitNumbers(JSON.stringify(own));
}

/** The spec as it was, absent values absent. */
export function plainSpec({ podName, podUID, terms, usage, own }: CompactSpec): PodAllocationSpec {
  // Written by ownText.
  const [renewTime, desiredCPURequest, desiredCPULimit, ...measured]: Own = JSON.parse(joinNumbers(own));
  return {
    ...terms.spec,
    podName,
    ...(podUID !== undefined && { podUID }),
    desiredCPURequest,
    desiredCPULimit,
    ...(renewTime !== null && { renewTime }),
    ...(terms.decision !== undefined && { decision: decisionOf(terms, unpackUsage(usage), measured) }),
  };
}

type Measured = Own extends readonly [unknown, unknown, unknown, ...infer Rest] ? Rest : never;

/** Names and values of containers are put together again by their order. */
function decisionOf(
  { decision, containers }: AllocationTerms,
  cpuUsage: string | undefined,
  measured: Measured,
): AllocationDecision {
  const [claim, want, throttledRatio, shadowPriceCPU, credits, byContainer] = measured;
  return {
    ...decision,
    ...(claim !== null && { claim }),
    ...(want !== null && { want }),
    ...(cpuUsage !== undefined && { cpuUsage }),
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

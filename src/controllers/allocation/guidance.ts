/** What the operator tells a node's agent about a pod: plain data in the status of its PodAllocation. */
import type { AllocationBound, AllocationGuidance } from '../../api/pod-allocation.ts';
import { type CpuSize, sizeOf, totalOf } from '../../decide/allocation/allocation-pod.ts';
import { type Bound, holdAt } from '../../decide/allocation/bounds.ts';
import type { PodHistory } from '../../decide/allocation/eligibility.ts';
import { clusterHints } from '../../decide/allocation/hints.ts';
import type { QuotaRoom } from '../../decide/allocation/integrations/resource-quota.ts';
import type { AllocationRules } from '../../decide/allocation/rules.ts';
import type { EpochMillis, Millicores } from '../../lib/units.ts';
import { isOwnManager } from '../../model/size-managers.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import type { AllocatedPod } from './facts.ts';

/** What one pod's guidance is made of. */
export interface GuidanceInput {
  readonly known: Pick<AllocatedPod, 'facts' | 'history' | 'isRefused' | 'pod' | 'workload'>;
  /** What rightsizing advises the pod to request. */
  readonly advice: Millicores | undefined;
  /** What it had before the first change of ours, by container, as its annotation says. */
  readonly original: ReadonlyMap<string, ContainerSize> | undefined;
  /** The request that its agent noted when it first saw the pod. */
  readonly noted: Millicores | undefined;
  /** Of the namespace, on one pod a node: it holds for all of them. */
  readonly quota: { readonly room: QuotaRoom; readonly nodeShare: number } | undefined;
  readonly rules: AllocationRules;
  readonly now: EpochMillis;
}

/**
 * Only what is to be said: a key that is left out means that nothing of the kind bounds the pod. Where the view cannot
 * be believed `isUnknown`, and beside it only what was learned for the life of the pod: nobody else knows it, and the
 * next leader reads it here.
 */
export function guidanceOf(input: GuidanceInput): AllocationGuidance {
  const { known, advice, quota, rules, now } = input;
  const { facts, history, pod } = known;
  if (facts.limitRanges === 'unknown' || facts.hpas === 'unknown' || facts.pdbs === 'unknown') {
    return { isUnknown: true, ...learned(history) };
  }
  const hints = clusterHints(pod, facts, rules, now);
  const bounds = [...hints.bounds, ...refusedBounds(known, rules)].map(
    ({ layer, reason, min, max }): AllocationBound => ({
      layer,
      reason,
      ...amount('min', min),
      ...amount('max', max),
    }),
  );
  const original = firstSize(input);
  return {
    ...(bounds.length > 0 && { bounds }),
    ...(hints.spread !== 1 && { spread: rounded(hints.spread) }),
    ...(hints.affinity !== 1 && { affinity: rounded(hints.affinity) }),
    ...(hints.isRequestFrozen && { isRequestFrozen: true }),
    ...amount('limitMin', hints.limitMin),
    ...(hints.step !== undefined && { step: hints.step }),
    ...(hints.bandFactor !== 1 && { bandFactor: hints.bandFactor }),
    ...amount('advice', advice),
    ...amount('originalRequest', original?.request),
    ...amount('originalLimit', original?.limit),
    ...(history.namespaceManaged !== undefined && { namespaceManaged: history.namespaceManaged }),
    ...(history.hasForeignWriter === true && { hasForeignWriter: true }),
    ...(history.isVpaOwned === true && { isVpaOwned: true }),
    ...learned(history),
    ...(quota !== undefined && {
      ...amount('quotaRequestRoom', quota.room.cpuRequest),
      ...amount('quotaLimitRoom', quota.room.cpuLimit),
      quotaNodeShare: roundedDown(quota.nodeShare),
    }),
  };
}

function learned({
  restartedOnResize,
  hasStaticCpuManager,
}: PodHistory): Pick<AllocationGuidance, 'restartedOnResize' | 'hasStaticCpuManager'> {
  return {
    ...(restartedOnResize === true && { restartedOnResize }),
    ...(hasStaticCpuManager === true && { hasStaticCpuManager }),
  };
}

/**
 * For the agent alone: what is asked for all the same is held back with the cause. Where a limit is shared out and there
 * is none, none is to be wished for at what the pod has: it could be granted the next time.
 */
function refusedBounds({ isRefused, pod }: GuidanceInput['known'], { apply }: AllocationRules): readonly Bound[] {
  if (!isRefused) return [];
  const { request, limit } = sizeOf(pod);
  const reason = 'ResizeRefused';
  if (apply !== 'limits') return [holdAt(request, reason)];
  return [limit === undefined ? { layer: 'hard', reason, min: request } : holdAt(limit, reason)];
}

/**
 * The annotation is on the pod, and whoever may edit that may write a hundred cores there: the pod's claim, and its part
 * of what nobody wants, would follow. So it counts only where a resize of ours followed it, and up to what the pod can
 * have come with. A template without requests gets those of a LimitRange, which its agent noted.
 */
function firstSize({ known, original, advice = 0, noted }: GuidanceInput): CpuSize | undefined {
  if (original === undefined) return undefined;
  const { pod, workload } = known;
  const current = sizeOf(pod);
  if (!pod.sizeManagers.some(isOwnManager)) return current;
  const { request, limit } = totalOf([...original.values()]);
  const template = workload === undefined ? 0 : totalOf(workload.containers.map(({ size }) => size)).request;
  // Objects of MBCAS may note nothing: then there is nothing to hold it against.
  const came = Math.max(template, noted ?? Number.POSITIVE_INFINITY);
  return { request: Math.min(request, Math.max(came, current.request, advice)), limit };
}

/** Infinity is no bound, and no JSON either. */
function amount<Key extends string>(key: Key, value: number | undefined): { readonly [K in Key]?: number } {
  const entry: { [K in Key]?: number } = {};
  if (value !== undefined && Number.isFinite(value)) entry[key] = Math.round(value);
  return entry;
}

/**
 * To two digits, however small: nodes take their parts without asking each other, so together they stay within the
 * whole.
 */
function roundedDown(share: number): number {
  if (share <= 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(share)) - 1);
  return Number((Math.floor(share / unit + 1e-9) * unit).toPrecision(2));
}

/** Figures that change with every pod would have the status written for nothing. */
const rounded = (value: number): number => Math.round(value * 100) / 100;

/**
 * What the cluster says about one pod's share: LimitRange, HorizontalPodAutoscaler, PodDisruptionBudget, spread,
 * affinity. The operator knows these objects, the node's agent does not; plain data, so that one can hand it to the
 * other.
 */
import type { EpochMillis, Millicores } from '../../lib/units.ts';
import type { NodeRecord, PdbRecord } from '../../model/records.ts';
import { limitRangeProblem } from '../../model/size-bounds.ts';
import { isOwnManager } from '../../model/size-managers.ts';
import type { HpaRecord, LimitRangeRecord } from '../../model/sizing-records.ts';
import { type AllocationPod, sizeOf, totalOf } from './allocation-pod.ts';
import { type Bound, holdAt } from './bounds.ts';
import { firstSizes } from './first-sizes.ts';
import { pdbBounds } from './integrations/disruption-budget.ts';
import { type HpaEffect, judgeHpas } from './integrations/horizontal-pod-autoscaler.ts';
import { limitRangeBound, mostBesideRequests, ratioBounds } from './integrations/limit-range.ts';
import { type AffinityFact, affinityFactor } from './integrations/node-affinity.ts';
import { medianBound, type SpreadFact, spreadFactor } from './integrations/topology-spread.ts';
import { readMarks } from './marks.ts';
import { type PodHints, unhindered } from './node-input.ts';
import type { AllocationRules } from './rules.ts';

/** `unknown`: should be known and is not, such as a store that is not fresh. */
export interface PodFacts {
  readonly limitRanges: readonly LimitRangeRecord[] | 'unknown';
  /** Those that target the pod's workload. */
  readonly hpas: readonly HpaRecord[] | 'unknown';
  /** Those that select the pod. */
  readonly pdbs: readonly PdbRecord[] | 'unknown';
  /** What the template of the pod's workload requests; left out where no template is known. */
  readonly template?: Millicores;
  readonly spread?: readonly SpreadFact[];
  /** What the replicas of the workload have in the middle; left out where they are too few to tell. */
  readonly median?: Millicores;
  readonly affinity?: AffinityFact;
  readonly node?: Pick<NodeRecord, 'name' | 'labels'>;
}

/** Unknown facts hold the pod where it is: no increase, no decrease. */
export function clusterHints(pod: AllocationPod, facts: PodFacts, rules: AllocationRules, now: EpochMillis): PodHints {
  const { limitRanges, hpas, pdbs } = facts;
  const size = sizeOf(pod);
  const current = rules.apply === 'limits' ? (size.limit ?? size.request) : size.request;
  if (limitRanges === 'unknown' || hpas === 'unknown' || pdbs === 'unknown') {
    return { ...unhindered, bounds: [holdAt(current, 'DataUnknown')], isRequestFrozen: true };
  }
  const hpa = judgeHpas(hpas, readMarks(pod.marks).hpaMode, size.request, now);
  const ofRanges = rangeBounds(pod, limitRanges, rules, current, hpa);
  const kept = hpa.isRequestFrozen ? Math.max(current, requestBefore(pod, facts, ofRanges)) : current;
  const bounds = [
    ...hpaBounds(hpa, current, kept, rules),
    ...ofRanges,
    ...(pdbs.length === 0 ? [] : pdbBounds(pdbs, current, firstShare(pod, rules))),
    ...(rules.weight.spreadCeiling ? medianBound(facts.median) : []),
  ];
  return {
    bounds,
    ...factors(facts, rules),
    isRequestFrozen: hpa.isRequestFrozen,
    ...(hpa.limitMin !== undefined && { limitMin: hpa.limitMin }),
    ...(hpa.step !== undefined && { step: hpa.step }),
    bandFactor: hpa.bandFactor,
  };
}

/** What it came with of what is bargained for: of limits, where it had none, as much as there is. */
function firstShare(pod: AllocationPod, { apply }: AllocationRules): Millicores {
  const { request, limit = Number.POSITIVE_INFINITY } = totalOf([...firstSizes(pod).values()]);
  return apply === 'limits' ? limit : request;
}

/** @param kept the request that an autoscaler divides by. */
function hpaBounds(hpa: HpaEffect, current: Millicores, kept: Millicores, { apply }: AllocationRules): Bound[] {
  const bounds: Bound[] = [];
  const reason = 'HorizontalPodAutoscaler';
  if (hpa.isRequestFrozen && apply !== 'limits') bounds.push(holdAt(kept, reason));
  if (hpa.limitMin !== undefined && apply === 'limits') bounds.push({ layer: 'hpa', reason, min: hpa.limitMin });
  if (hpa.isScaling) bounds.push({ layer: 'hpa', reason, min: current });
  return bounds;
}

/**
 * What a pod gave up before there was an autoscaler it gets back: its new replicas come with as much, and it divides the
 * use of all by that. Anybody may write the annotation that tells it, so it is believed up to the template.
 */
function requestBefore(
  pod: AllocationPod,
  { template = 0 }: PodFacts,
  others: readonly Pick<Bound, 'max'>[],
): Millicores {
  if (!pod.sizeManagers.some(isOwnManager)) return 0;
  const { request } = totalOf([...firstSizes(pod).values()]);
  return Math.min(request, template, ...others.map(({ max = request }) => max));
}

function factors(
  { spread, affinity, node }: PodFacts,
  { weight }: AllocationRules,
): Pick<PodHints, 'spread' | 'affinity'> {
  return {
    spread: weight.topologySpread ? spreadFactor(spread ?? []) : 1,
    affinity:
      weight.nodeAffinity && affinity !== undefined && node !== undefined ? affinityFactor(affinity, node).factor : 1,
  };
}

function rangeBounds(
  { containers, qos }: AllocationPod,
  ranges: readonly LimitRangeRecord[],
  { apply, requestRatio }: AllocationRules,
  current: Millicores,
  { isRequestFrozen }: HpaEffect,
): Bound[] {
  if (ranges.length === 0) return [];
  if (limitRangeProblem(ranges, containers) !== undefined) return [holdAt(current, 'LimitRangeConflict')];
  const bound = limitRangeBound(ranges, containers.length, apply === 'limits' ? requestRatio : 1);
  if (bound === undefined) return [holdAt(current, 'LimitRangeConflict')];
  if (apply === 'limits' && isRequestFrozen) {
    const { max = Number.POSITIVE_INFINITY } = bound;
    return [{ ...bound, max: Math.min(max, mostBesideRequests(ranges, containers)) }];
  }
  return apply === 'limits' || qos === 'Guaranteed' ? [bound] : [bound, ...ratioBounds(ranges, containers)];
}

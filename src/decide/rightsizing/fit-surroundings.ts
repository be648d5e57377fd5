/** What surrounds a workload, and how what its containers are to have is fitted into it. */
import { type SizeKey, sumOf } from '../../model/pod-size.ts';
import type { QuotaSubject } from '../../model/quota-scopes.ts';
import { allowedRange, type QuotaUse } from '../../model/size-bounds.ts';
import type { ContainerSpecRecord, HpaRecord, LimitRangeRecord, QuotaRecord } from '../../model/sizing-records.ts';
import { wasKilled } from './advice.ts';
import { formatAmount, type ResourceName } from './amount-text.ts';
import { type BesideContainers, nothingBeside } from './beside-containers.ts';
import type { ScaleBasis } from './hpa-stage.ts';
import {
  capRoom,
  type FitPart,
  fitLimits,
  fitTogether,
  noPromises,
  type QuotaPromises,
  quotaRoom,
} from './joint-fit.ts';
import type { NodeRoom } from './largest-node.ts';

/** What of its surroundings bounds the workload. */
export interface Surroundings {
  readonly limitRanges: readonly LimitRangeRecord[];
  readonly quotas: readonly QuotaRecord[];
  readonly hpas: readonly HpaRecord[];
  /** The most any node can give to one of its pods; undefined where no node is known. */
  readonly largestNode: NodeRoom | undefined;
  /** Pods that would change. */
  readonly replicas: number;
  /** What they hold by now of quotas; left out: what so many of them would by the sizes that are asked about. */
  readonly held?: QuotaUse;
  /** What the pods have beside these containers; asked where that matters. Left out: nothing. */
  readonly beside?: () => BesideContainers;
  /** Of quotas, what others have been promised and do not hold yet; asked where something is to grow. Left out: nothing. */
  readonly promises?: () => QuotaPromises;
  /** One of the pods, by which to tell which quotas count them; left out or undefined: ordinary ones. */
  readonly like?: QuotaSubject | undefined;
}

/** For one workload. */
interface FitQuestion {
  readonly containers: readonly ContainerSpecRecord[];
  readonly around: Surroundings;
}

/** What a pod may have, with all that it has beside these containers. @param ofOther what they have of the other resource. */
export function fitPod(
  given: readonly FitPart[],
  { containers, around }: FitQuestion,
  resource: ResourceName,
  ofOther: ScaleBasis,
): readonly FitPart[] {
  const { sizes, ofNode } = around.beside?.() ?? nothingBeside;
  const amount = (value: number): string => formatAmount(resource, value);
  let parts = given;
  const perPod = allowedRange(around.limitRanges, 'Pod', resource).max;
  if (perPod < Number.POSITIVE_INFINITY) {
    const what = `a LimitRange allows a pod ${amount(perPod)}`;
    parts = fitTogether(parts, capRoom(parts, perPod - sizes[`${resource}Request`], 'limit-range', what));
    const limits = sumOf(containers, `${resource}Limit`) + sizes[`${resource}Limit`];
    parts = fitLimits(parts, { growth: perPod - limits, stage: 'limit-range', what });
  }
  if (around.largestNode === undefined) return parts;
  // What is to be less is there until it is less.
  const other = Math.max(ofOther.current, ofOther.advised);
  const most =
    resource === 'cpu'
      ? around.largestNode.cpuBeside(other + ofNode.memoryBytes) - ofNode.cpuMillis
      : around.largestNode.memoryBeside(other + ofNode.cpuMillis) - ofNode.memoryBytes;
  const what = `no node that its pods may use has more than ${amount(Math.max(0, most))} beside its ${resource === 'cpu' ? 'memory' : 'CPU'}`;
  return fitTogether(parts, capRoom(parts, most, 'node-size', what));
}

/** What quotas leave to each of its pods. */
export function fitQuotas(
  given: readonly FitPart[],
  { containers, around }: FitQuestion,
  resource: ResourceName,
): readonly FitPart[] {
  // Who is killed for want of memory needs it more than who is only to have it.
  const isPressing = given.some(({ shaped }) => shaped !== undefined && wasKilled(shaped));
  const promises = isPressing ? noPromises : around.promises?.();
  const leftByQuotas = (key: SizeKey, current: number) =>
    quotaRoom(around.quotas, key, { ...around, current, held: around.held?.[key], promises });
  const current = given.reduce((sum, part) => sum + part.current, 0);
  const ofRequests = leftByQuotas(`${resource}Request`, current);
  const parts = ofRequests === undefined ? given : fitTogether(given, ofRequests);
  const ofLimits = leftByQuotas(`${resource}Limit`, sumOf(containers, `${resource}Limit`));
  return ofLimits === undefined ? parts : fitLimits(parts, ofLimits);
}

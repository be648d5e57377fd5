/**
 * Whether a status says enough that is new to be written. Recommendations move a little with every sample, and the
 * numbers in sentences with them: written each time, that alone would be hundreds of writes a day for a policy at rest.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type ContainerRecommendation,
  MAX_WORKLOADS_IN_STATUS,
  type OptimizationPolicyStatus,
  type PolicyCondition,
  type PolicyWorkloadStatus,
} from '../../api/optimization-policy-status.ts';
import { pastTime } from '../../lib/past-time.ts';
import { tryParseQuantity } from '../../lib/quantity.ts';
import { parseTime } from '../../lib/rfc3339.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';

/** A published value stands for all that are no further from it than this share, as on the annotations of workloads. */
const NEAR = 0.05;
/** What was held back is written in the end: no published value, and no time of the last pass, is older. */
const REFRESH_MILLIS: Millis = 3_600_000;
const GATHER_MILLIS: Millis = 500;
const GATHER_MILLIS_PER_WORKLOAD: Millis = 25;

/**
 * All that happens within this time is written at once. A status that lists many workloads is a hundred kilobytes or
 * more, and of many workloads some change all the time: so the more it lists, the longer, up to five and a half seconds.
 */
export function gatherMillis(workloads: number): Millis {
  return GATHER_MILLIS + GATHER_MILLIS_PER_WORKLOAD * Math.min(MAX_WORKLOADS_IN_STATUS, workloads);
}

/**
 * What is written is always what is known now, never what was published before: differences do not add up, for each
 * status is compared with the one that was written last.
 */
export function isWorthWriting(
  before: OptimizationPolicyStatus,
  after: OptimizationPolicyStatus,
  now: EpochMillis,
): boolean {
  const { lastReconciliation: then, workloads: known = [], conditions: told = [], ...counts } = before;
  const { lastReconciliation: time, workloads = [], conditions = [], ...countsNow } = after;
  if (!isDeepStrictEqual(counts, countsNow)) return true;
  if (!isSameByKey(told, conditions, ({ type }) => type, isSameCondition)) return true;
  const isBounded = (after.workloadsOmitted ?? 0) > 0;
  if (!isSameByKey(known, workloads, keyOf, isSameEntry, isBounded)) return true;
  const at = pastTime(parseTime(then), now);
  return time !== undefined && (at === undefined || now - at >= REFRESH_MILLIS);
}

const keyOf = ({ namespace, kind, name }: PolicyWorkloadStatus): string => `${namespace}/${kind}/${name}`;

/**
 * In whatever order: workloads are listed by what they save, which moves with every sample, too.
 * @param isPart either list is the upper end of a longer one, and what is only in one of them may come and go.
 */
function isSameByKey<T>(
  before: readonly T[],
  after: readonly T[],
  key: (item: T) => string,
  isSame: (a: T, b: T) => boolean,
  isPart = false,
): boolean {
  if (!Array.isArray(before) || before.length !== after.length) return false;
  const known = new Map(before.map((item) => [key(item), item]));
  return after.every((item) => {
    const other = known.get(key(item));
    return other === undefined ? isPart : isSame(other, item);
  });
}

function isSameCondition(
  { message, ...known }: PolicyCondition,
  { message: wanted, ...condition }: PolicyCondition,
): boolean {
  return isDeepStrictEqual(known, condition) && isSameSentence(message, wanted);
}

function isSameEntry(before: PolicyWorkloadStatus, after: PolicyWorkloadStatus): boolean {
  // The time of a recommendation is news only with the recommendation.
  const { recommendations: known = [], message, lastRecommendation: _then, replicaSizes: had, ...rest } = before;
  const { recommendations = [], message: wanted, lastRecommendation: _now, replicaSizes: has, ...restNow } = after;
  return (
    isDeepStrictEqual(rest, restNow) &&
    isSameSentence(message, wanted) &&
    isSameSentence(had, has) &&
    isSameByKey(known, recommendations, ({ container }) => container, isSameAdvice)
  );
}

/** The explanation leads to the values, so it is news only with them. */
function isSameAdvice(before: ContainerRecommendation, after: ContainerRecommendation): boolean {
  return isNear(before.cpu, after.cpu) && isNear(before.memory, after.memory);
}

/** @param a, b quantities; undefined where nothing is advised, which is never near to something. */
export function isNear(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  const [one, other] = [tryParseQuantity(a ?? ''), tryParseQuantity(b ?? '')];
  if (one === undefined || other === undefined) return false;
  const [x, y] = [Number(one.nanos), Number(other.nanos)];
  return Math.abs(x - y) <= NEAR * Math.max(x, y);
}

/** A number on its own: not the `2` of `web-2`, but times and quantities as a whole. */
const NUMBER = /(?<![\w.-])\d[\w.:+-]*/g;

/** Whether sentences differ in nothing but numbers. */
function isSameSentence(before: string | undefined, after: string | undefined): boolean {
  return before === after || before?.replace(NUMBER, '#') === after?.replace(NUMBER, '#');
}

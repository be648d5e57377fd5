/** The annotations a workload should have: the recommendation by OptiPod's keys, or none of ours at all. */
import { isWrittenByRightsizing, recommendationKey, rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { formatCpu, formatMemory } from '../../decide/rightsizing/amount-text.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { isNear } from '../../decide/rightsizing/worth-writing.ts';
import { formatTime, parseTime } from '../../lib/rfc3339.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';

/** By key; null takes the annotation away, a key that is left out stays as it is. */
export type Annotations = Readonly<Record<string, string | null>>;

const HOUR_MILLIS: Millis = 3_600_000;

/**
 * The recommendation by container, under OptiPod's keys. The time is written only together with a value that changed: a
 * pass that finds nothing new writes nothing, as each write to a workload wakes everybody who watches it.
 * @param isForNobody values that nobody is given are told once an hour: percentiles of unlike replicas jump from one to the other.
 * @returns nothing where the workload says it all already.
 */
export function recommendationAnnotations(
  workload: SizedWorkload,
  policyName: string,
  advice: readonly SizedAdvice[],
  now: EpochMillis,
  isForNobody = false,
): Annotations {
  const toldAt = parseTime(workload.annotations[rightsizingKeys.lastRecommendation]);
  const isHeld = isForNobody && toldAt !== undefined && toldAt <= now && now - toldAt < HOUR_MILLIS;
  const values: Record<string, string> = {
    [rightsizingKeys.managed]: 'true',
    [rightsizingKeys.policy]: policyName,
  };
  for (const { container, cpu, memory } of advice) {
    if (cpu.target !== undefined) values[recommendationKey(container, 'cpu-request')] = formatCpu(cpu.target);
    if (memory.target !== undefined)
      values[recommendationKey(container, 'memory-request')] = formatMemory(memory.target);
    // Of the target, as requests are: beside the limit of a step they could not be written into one manifest.
    if (cpu.targetLimit !== undefined) values[recommendationKey(container, 'cpu-limit')] = formatCpu(cpu.targetLimit);
    if (memory.targetLimit !== undefined)
      values[recommendationKey(container, 'memory-limit')] = formatMemory(memory.targetLimit);
  }
  for (const [key, value] of Object.entries(values)) {
    const known = workload.annotations[key];
    // A recommendation moves a little with every sample; that is not worth a write to the workload.
    const isTold = isNear(known, value) || (isHeld && key.includes('/recommendation.'));
    if (known !== undefined && isTold) values[key] = known;
  }
  // Of containers and fields that are gone nothing is left behind.
  const stale = Object.keys(workload.annotations).filter(
    (key) => key.includes('/recommendation.') && values[key] === undefined,
  );
  const changed = Object.entries(values).filter(([key, value]) => workload.annotations[key] !== value);
  if (changed.length === 0 && stale.length === 0) return {};
  return {
    ...values,
    ...Object.fromEntries(stale.map((key) => [key, null])),
    [rightsizingKeys.lastRecommendation]: formatTime(now),
  };
}

/** Takes away all that rightsizing wrote; what people wrote stays. */
export function noAnnotations(workload: SizedWorkload): Annotations {
  return Object.fromEntries(
    Object.keys(workload.annotations)
      .filter(isWrittenByRightsizing)
      .map((key) => [key, null]),
  );
}

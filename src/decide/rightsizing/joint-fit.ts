/**
 * What the containers of a pod may request together: no more than the largest node has, than LimitRanges of type Pod
 * allow, and than quotas leave. Raises give way in proportion; nothing is ever lowered below what it has for the sake
 * of another.
 */
import type { QuotaRecord } from '../../model/sizing-records.ts';
import type { Stage } from './advice.ts';
import { formatAmount, type ResourceName } from './amount-text.ts';
import { moveTo, type Shaped } from './shape.ts';

/**
 * One container's value on its way; undefined where nothing is advised: it stays as it is, and takes its part of the
 * room.
 */
export interface FitPart {
  readonly shaped: Shaped | undefined;
  readonly current: number;
}

export interface Room {
  /** By how much the pod's requests may grow in sum; may be negative, and then nothing may grow. */
  readonly growth: number;
  readonly stage: Stage;
  /** Where the room ends, for people. */
  readonly what: string;
}

/** Scales all raises down so that their sum, less what decreases free, is within the room. */
export function fitTogether(parts: readonly FitPart[], { growth, stage, what }: Room): readonly FitPart[] {
  const change = ({ shaped, current }: FitPart): number => (shaped === undefined ? 0 : shaped.value - current);
  const raises = parts.reduce((sum, part) => sum + Math.max(0, change(part)), 0);
  const freed = parts.reduce((sum, part) => sum + Math.max(0, -change(part)), 0);
  if (raises - freed <= growth) return parts;
  // What is freed counts only once it is done; a raise may still build on it, as decreases are made first.
  const share = Math.max(0, (growth + freed) / raises);
  return parts.map((part) => {
    const { shaped, current } = part;
    if (shaped === undefined || shaped.value <= current) return part;
    const value = Math.max(current, Math.floor(current + (shaped.value - current) * share));
    return { ...part, shaped: moveTo({ ...shaped, ceiling: value }, stage, value, what) };
  });
}

/** Pods that share what quotas leave. */
export interface QuotaSharers {
  readonly replicas: number;
  /** What one of them is to have before it grows. */
  readonly current: number;
  /**
   * What they hold by now: while a change goes from pod to pod some have it already, and others not yet. Undefined: as
   * much as all would have.
   */
  readonly held: number | undefined;
}

/**
 * The room the tightest ResourceQuota leaves for one pod, all replicas growing alike; undefined where none limits the
 * resource. The same before, while and after they grow: what one of them has been given is not taken for somebody else's.
 */
export function quotaRoom(
  quotas: readonly QuotaRecord[],
  resource: ResourceName,
  { replicas, current, held }: QuotaSharers,
): Room | undefined {
  const sharers = Math.max(1, replicas);
  const key = resource === 'cpu' ? 'cpuRequest' : 'memoryRequest';
  let tightest: Room | undefined;
  for (const quota of quotas) {
    const hard = quota.hard[key];
    if (hard === undefined || !countsServing(quota)) continue;
    const left = hard - (quota.used[key] ?? 0) + (held ?? sharers * current) - sharers * current;
    const growth = Math.floor(left / sharers);
    if (tightest !== undefined && tightest.growth <= growth) continue;
    const what = `ResourceQuota ${quota.name} leaves ${formatAmount(resource, Math.max(0, left))} of requests.${resource} for ${sharers === 1 ? 'one pod' : `${sharers} pods`}: raise it to grant more`;
    tightest = { growth, stage: 'quota', what };
  }
  return tightest;
}

/**
 * Whether pods that serve and have requests count. Quotas of priority classes and of jobs are left to the API server.
 */
function countsServing({ scopes }: QuotaRecord): boolean {
  return (scopes ?? []).every((scope) => scope === 'NotBestEffort' || scope === 'NotTerminating');
}

/** The room up to a cap on the pod's sum. */
export function capRoom(parts: readonly FitPart[], cap: number, stage: Stage, what: string): Room {
  return { growth: cap - parts.reduce((sum, { current }) => sum + current, 0), stage, what };
}

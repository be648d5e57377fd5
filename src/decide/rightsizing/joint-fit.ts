/**
 * What the containers of a pod may request together: no more than the largest node has, than LimitRanges of type Pod
 * allow, and than quotas leave. Raises give way in proportion; nothing is ever lowered below what it has for the sake
 * of another.
 */
import { type AwaitedPods, roomKept } from '../../model/awaited-pods.ts';
import { type SizeKey, sizePaths } from '../../model/pod-size.ts';
import { countsIn, type QuotaSubject } from '../../model/quota-scopes.ts';
import { addUse, lessUse, noUse, type QuotaUse } from '../../model/size-bounds.ts';
import type { QuotaRecord } from '../../model/sizing-records.ts';
import type { Stage } from './advice.ts';
import { formatAmount } from './amount-text.ts';
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
  const most = Math.max(0, growth + freed);
  return parts.map((part) => {
    const { shaped, current } = part;
    if (shaped === undefined || shaped.value <= current) return part;
    // Divided last: of amounts that divide, nothing is lost to fractions.
    const value = Math.max(current, Math.floor(current + ((shaped.value - current) * most) / raises));
    return { ...part, shaped: moveTo({ ...shaped, ceiling: value }, stage, value, what) };
  });
}

/** Halvings of the share of all raises that is asked for: one in a million is no amount. */
const HALVINGS = 20;

/**
 * The same for limits that move with their requests: raises of these go as far as the limits may.
 * @param room by how much the pod's limits may grow in sum.
 */
export function fitLimits(parts: readonly FitPart[], room: Room): readonly FitPart[] {
  const most = Math.max(0, room.growth);
  if (limitGrowth(parts) <= most) return parts;
  const raises = parts.reduce((sum, { shaped, current }) => sum + Math.max(0, (shaped?.value ?? 0) - current), 0);
  const freed = parts.reduce((sum, { shaped, current }) => sum + Math.max(0, current - (shaped?.value ?? current)), 0);
  const withShare = (share: number): readonly FitPart[] =>
    fitTogether(parts, { ...room, growth: Math.floor(raises * share) - freed });
  // Limits follow by one of several rules, of which all give more for more.
  let [fits, tooMuch] = [0, 1];
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (fits + tooMuch) / 2;
    if (limitGrowth(withShare(middle)) <= most) fits = middle;
    else tooMuch = middle;
  }
  return withShare(fits);
}

function limitGrowth(parts: readonly FitPart[]): number {
  return parts.reduce((sum, { shaped }) => {
    const before = shaped?.input.current.limit ?? 0;
    return sum + (shaped?.limit ?? before) - before;
  }, 0);
}

/** What one workload is yet to take of the quotas that count its pods. */
export interface PromisedUse {
  /** Those that are there. */
  readonly growth: QuotaUse;
  /** Those that are missing. */
  readonly awaited: AwaitedPods | undefined;
  /** One of them; undefined where there is none: then all quotas are taken to count them. */
  readonly like: QuotaSubject | undefined;
}

/** What others are yet to take of a namespace's quotas, and what they give back before that. */
export interface QuotaPromises {
  readonly promised: readonly PromisedUse[];
  readonly returning: QuotaUse;
}

export const noPromises: QuotaPromises = { promised: [], returning: noUse };

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
  /** To others, what the quota's figures do not show yet; left out: nothing. */
  readonly promises?: QuotaPromises | undefined;
  /** One of them; left out or undefined: they are taken for ordinary ones. */
  readonly like?: QuotaSubject | undefined;
}

/**
 * The room the tightest ResourceQuota leaves for one pod, all replicas growing alike; undefined where none limits the
 * amount. The same before, while and after they grow: what one of them has been given is not taken for somebody else's.
 */
export function quotaRoom(quotas: readonly QuotaRecord[], key: SizeKey, sharers: QuotaSharers): Room | undefined {
  const { current, held, promises = noPromises, like } = sharers;
  const replicas = Math.max(1, sharers.replicas);
  const { list, resource } = sizePaths[key];
  let tightest: Room | undefined;
  for (const quota of quotas) {
    const hard = quota.hard[key];
    const counts = like === undefined ? countsServing(quota) : countsIn(quota.scopes, like);
    if (hard === undefined || !counts) continue;
    const beyond = (held ?? replicas * current) - replicas * current;
    const kept = promisedOf(quota, promises, { ...noUse, [key]: beyond })[key];
    const left = hard - (quota.used[key] ?? 0) + beyond - kept;
    const growth = Math.floor(left / replicas);
    if (tightest !== undefined && tightest.growth <= growth) continue;
    const pods = replicas === 1 ? 'one pod' : `${replicas} pods`;
    const beside = kept > 0 ? ` beside ${formatAmount(resource, kept)} that it keeps for others` : '';
    const what = `ResourceQuota ${quota.name} leaves ${formatAmount(resource, Math.max(0, left))} of ${list}.${resource} for ${pods}${beside}: raise it to grant more`;
    tightest = { growth, stage: 'quota', what };
  }
  return tightest;
}

/** @param beyond what those who ask hold beyond what they are to have before they grow, such as of pods that go. */
function promisedOf(quota: QuotaRecord, { promised, returning }: QuotaPromises, beyond: QuotaUse): QuotaUse {
  const others = promised.filter(({ like }) => like === undefined || countsIn(quota.scopes, like));
  const growth = others.reduce<QuotaUse>((sum, each) => addUse(sum, each.growth), noUse);
  const awaited = others.flatMap((each) => each.awaited ?? []);
  return addUse(growth, roomKept(quota, awaited, lessUse(growth, beyond), returning));
}

/** Whether pods that serve and have requests count, of whatever priority class. */
function countsServing({ scopes }: QuotaRecord): boolean {
  return (scopes ?? []).every((scope) => scope === 'NotBestEffort' || scope === 'NotTerminating');
}

/** The room up to a cap on the pod's sum. */
export function capRoom(parts: readonly FitPart[], cap: number, stage: Stage, what: string): Room {
  return { growth: cap - parts.reduce((sum, { current }) => sum + current, 0), stage, what };
}

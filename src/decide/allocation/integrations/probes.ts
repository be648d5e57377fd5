/**
 * Integration 9, probes: a pod that is starting, unready or has just restarted gives nothing up, since a slow probe
 * would restart it; where it is short of CPU as well it gets more for a while. What it lost just before its probes
 * failed it gets back. One that stays unready and idle is let go of.
 */
import type { EpochMillis, Millicores, Millis } from '../../../lib/units.ts';
import { endedAt } from '../../../model/recent-kill.ts';
import type { AllocationPod } from '../allocation-pod.ts';
import type { Bound } from '../bounds.ts';

export interface ProbeMemory {
  /** Sum of restart counts at the last tick, and when it last rose. */
  readonly restarts: number;
  readonly restartedAt: EpochMillis | undefined;
  /** What it had at the last tick, and whether it was ready; left out: seen first. */
  readonly held?: Held;
  readonly wasReady?: boolean;
  /** The last time it was given less, while that may still be to blame for what happens. */
  readonly cut?: { readonly from: Millicores; readonly at: EpochMillis };
  /** It did not bear that: until then it keeps at least what it had before, and no ceiling. */
  readonly rollback?: { readonly to: Millicores; readonly until: EpochMillis };
}

/** Share, and limit where there is one. */
export interface Held {
  readonly share: Millicores;
  readonly limit: Millicores | undefined;
}

export interface ProbeJudgement {
  readonly bounds: readonly Bound[];
  /** Starting, or not ready, but not for long: a ceiling would take from it just what it needs to come up. */
  readonly isComingUp: boolean;
  /** Factor of the want. */
  readonly boost: number;
  readonly memory: ProbeMemory;
}

const AFTER_RESTART: Millis = 300_000;
const AFTER_FLIP: Millis = 60_000;
const GIVE_UP_AFTER: Millis = 600_000;
/** Usage by what it has, or came with, below which a pod that long unready is taken to be dead. */
const DEAD_USAGE = 0.1;
const SHORT_OF_CPU = 0.05;
const BOOST = 1.5;
/** Probes with the usual threshold and period fail half a minute after what made them fail. */
const TO_BLAME: Millis = 60_000;
const ROLLED_BACK_FOR: Millis = 600_000;
/** A change is seen a tick after it is in force, and probes are told in whole seconds. */
const SEEN_LATE: Millis = 2000;

/**
 * One tick. @param held what the pod has, below which it is not to fall. @param first the share that it came with.
 * @param previous undefined for a pod seen first.
 */
export function judgeProbes(
  pod: AllocationPod,
  {
    held,
    first,
    usage,
    throttledRatio,
  }: {
    readonly held: Held;
    readonly first: Millicores;
    readonly usage: Millicores | undefined;
    readonly throttledRatio: number | undefined;
  },
  previous: ProbeMemory | undefined,
  graceMillis: Millis,
  now: EpochMillis,
): ProbeJudgement {
  const { share } = held;
  const restarts = pod.statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const hasRestarted = previous !== undefined && restarts > previous.restarts;
  const restartedAt = hasRestarted ? now : (previous?.restartedAt ?? lastRestart(pod));
  const cut = cutOf(held, previous, now);
  const { readyChangedAt } = pod;
  const hasFailed =
    cut !== undefined && !pod.ready && (previous?.wasReady === true || (readyChangedAt ?? 0) >= cut.at - SEEN_LATE);
  const rollback =
    cut !== undefined && (hasFailed || hasRestarted)
      ? { to: Math.max(cut.from, share), until: now + ROLLED_BACK_FOR }
      : runningRollback(previous, now);
  const memory: ProbeMemory = {
    restarts,
    restartedAt,
    held,
    wasReady: pod.ready,
    // Once taken back it is to blame for nothing more.
    ...(cut !== undefined && rollback === undefined && { cut }),
    ...(rollback !== undefined && { rollback }),
  };
  // What is far ahead of now was told before the machine's clock was set back.
  const isRecent = (at: EpochMillis, within: Millis): boolean => Math.abs(now - at) < within;
  const isStarting = isRecent(pod.startedAt, graceMillis);
  const isWaiting = pod.statuses.some(({ running }) => !running);
  // A first readiness is no flip: the start-up grace is there for that.
  const isFirst = readyChangedAt !== undefined && pod.ready && readyChangedAt - pod.startedAt < graceMillis;
  const hasFlipped = readyChangedAt !== undefined && isRecent(readyChangedAt, AFTER_FLIP) && !isStarting && !isFirst;
  const isShaken =
    !pod.ready || isWaiting || hasFlipped || (restartedAt !== undefined && isRecent(restartedAt, AFTER_RESTART));
  const unreadyFor = pod.ready || readyChangedAt === undefined ? 0 : now - readyChangedAt;
  const isGivenUp = unreadyFor > GIVE_UP_AFTER;
  const isComingUp = isStarting || (!pod.ready && !isGivenUp);
  const bounds: Bound[] = isStarting ? [{ layer: 'grace', reason: 'StartupGrace', min: share }] : [];
  if (rollback !== undefined) bounds.push({ layer: 'readiness', reason: 'RolledBack', min: rollback.to });
  // By what it has alone it would come to life again as soon as it has less, and die when it gets that back, for ever.
  const isDead = isGivenUp && usage !== undefined && usage < DEAD_USAGE * Math.max(share, first);
  if (!isShaken || isDead) return { bounds, isComingUp, boost: 1, memory };
  bounds.push({ layer: 'readiness', reason: 'Readiness', min: share });
  const boost = !pod.ready && (throttledRatio ?? 0) > SHORT_OF_CPU ? BOOST : 1;
  return { bounds, isComingUp, boost, memory };
}

/** A pod that is given less, twice in a row too, is remembered with what it had before the first time. */
function cutOf({ share, limit }: Held, previous: ProbeMemory | undefined, now: EpochMillis): ProbeMemory['cut'] {
  const { held, cut } = previous ?? {};
  const before = cut !== undefined && now - cut.at < TO_BLAME ? cut : undefined;
  if (held === undefined) return before;
  const isLimited = limit !== undefined && limit < (held.limit ?? Number.POSITIVE_INFINITY);
  if (share < held.share || isLimited) return { from: Math.max(held.share, before?.from ?? 0), at: now };
  return before !== undefined && share > held.share && share >= before.from ? undefined : before;
}

function runningRollback(previous: ProbeMemory | undefined, now: EpochMillis): ProbeMemory['rollback'] {
  const rollback = previous?.rollback;
  return rollback !== undefined && now < rollback.until ? rollback : undefined;
}

function lastRestart({ statuses }: AllocationPod): EpochMillis | undefined {
  const ends = statuses
    .filter(({ restartCount }) => restartCount > 0)
    .map(({ lastTermination }) => lastTermination && endedAt(lastTermination))
    .filter((end) => end !== undefined);
  return ends.length === 0 ? undefined : Math.max(...ends);
}

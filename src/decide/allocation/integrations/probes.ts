/**
 * Integration 9, probes: a pod that is starting, unready or has just restarted gives nothing up, since a slow probe
 * would restart it; where it is short of CPU as well it gets more for a while. One that stays unready and idle is let
 * go of.
 */
import type { EpochMillis, Millicores, Millis } from '../../../lib/units.ts';
import type { AllocationPod } from '../allocation-pod.ts';
import type { Bound } from '../bounds.ts';

export interface ProbeMemory {
  /** Sum of restart counts at the last tick, and when it last rose. */
  readonly restarts: number;
  readonly restartedAt: EpochMillis | undefined;
}

export interface ProbeJudgement {
  readonly bounds: readonly Bound[];
  /** Factor of the want. */
  readonly boost: number;
  readonly memory: ProbeMemory;
}

const AFTER_RESTART: Millis = 300_000;
const AFTER_FLIP: Millis = 60_000;
const GIVE_UP_AFTER: Millis = 600_000;
/** Usage by share below which a pod that long unready is taken to be dead. */
const DEAD_USAGE = 0.1;
const SHORT_OF_CPU = 0.05;
const BOOST = 1.5;

/**
 * One tick. @param current what the pod has, below which it is not to fall. @param previous undefined for a pod seen
 * first.
 */
export function judgeProbes(
  pod: AllocationPod,
  {
    current,
    usage,
    throttledRatio,
  }: {
    readonly current: Millicores;
    readonly usage: Millicores | undefined;
    readonly throttledRatio: number | undefined;
  },
  previous: ProbeMemory | undefined,
  graceMillis: Millis,
  now: EpochMillis,
): ProbeJudgement {
  const restarts = pod.statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const hasRestarted = previous !== undefined && restarts > previous.restarts;
  const restartedAt = hasRestarted ? now : (previous?.restartedAt ?? lastRestart(pod));
  const memory = { restarts, restartedAt };
  const isStarting = now - pod.startedAt < graceMillis;
  const isWaiting = pod.statuses.some(({ running }) => !running);
  const { readyChangedAt } = pod;
  // A first readiness is no flip: the start-up grace is there for that.
  const isFirst = readyChangedAt !== undefined && pod.ready && readyChangedAt - pod.startedAt < graceMillis;
  const hasFlipped = readyChangedAt !== undefined && now - readyChangedAt < AFTER_FLIP && !isStarting && !isFirst;
  const isShaken =
    !pod.ready || isWaiting || hasFlipped || (restartedAt !== undefined && now - restartedAt < AFTER_RESTART);
  const bounds: Bound[] = isStarting ? [{ layer: 'grace', reason: 'StartupGrace', min: current }] : [];
  if (!isShaken) return { bounds, boost: 1, memory };
  const unreadyFor = pod.ready || pod.readyChangedAt === undefined ? 0 : now - pod.readyChangedAt;
  if (unreadyFor > GIVE_UP_AFTER && usage !== undefined && usage < DEAD_USAGE * current) {
    return { bounds, boost: 1, memory };
  }
  bounds.push({ layer: 'readiness', reason: 'Readiness', min: current });
  const boost = !pod.ready && (throttledRatio ?? 0) > SHORT_OF_CPU ? BOOST : 1;
  return { bounds, boost, memory };
}

function lastRestart({ statuses }: AllocationPod): EpochMillis | undefined {
  const ends = statuses
    .filter(({ restartCount }) => restartCount > 0)
    .map(({ lastTermination }) => lastTermination?.finishedAt)
    .filter((end) => end !== undefined);
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/**
 * Moves to spot: only when it can be had, one probe first, and temporary cover goes back at its own pace. No moves at
 * all in a storm.
 */
import type { Storm } from '../../decide/placement/spot-outlook.ts';
import type { DisruptionWindow } from '../../lib/schedule.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { Objection } from '../context.ts';
import { disruptionRule, evictRule, inWords, object } from '../objection.ts';
import { isWaitingCover } from '../waiting-cover.ts';

/** Where pods may always be moved there is no window to count in, and the pace is by the hour. */
const HOUR_MILLIS: Millis = 3_600_000;

/** Hazard H8. Interruptions of one pool come in clusters, so what is left of it is about to go as well. */
export const calm = disruptionRule(
  'calm',
  'While the cloud takes nodes away, pods are disrupted enough; what looks like a place now may be gone in a minute.',
  (_, { spot, now }) => objectToStorm(spot?.storm(now), now),
);

/** Why not now. @param storm undefined: all is calm. */
export function objectToStorm(storm: Storm | undefined, now: EpochMillis): Objection {
  if (storm === undefined) return undefined;
  const values = { interruptions: storm.lost, period: 'a short time', calmAt: new Date(storm.calmAt).toISOString() };
  return object('StormCalm', values, storm.calmAt - now);
}

/** Hazard H6. */
export const spotOpen = evictRule(
  'spot-open',
  'Spot that had no room a moment ago is left alone for a growing while, and then tried with one pod: so a pool that comes and goes moves nobody to and fro.',
  ({ decision }, { spot, now }) => {
    if (decision.to !== 'spot' || spot === undefined) return undefined;
    const state = spot.stateOf(decision.workloadUid, now);
    if (state.kind === 'closed') {
      return object('SpotClosed', { remaining: inWords(state.until - now) }, state.until - now);
    }
    return state.kind === 'probing' && state.isTaken ? object('SpotProbing', {}, RETRY_MILLIS) : undefined;
  },
);

/** The probe's end shows in the workload it is of; the others look again now and then. */
const RETRY_MILLIS: Millis = 60_000;

export const returnsPaced = evictRule(
  'returns-paced',
  'Cover is good enough for a while; going back is no reason to disrupt a workload more than its owner allows in a window.',
  ({ decision, pod }, { history, policy, settings, now }) => {
    if (decision.isReturn !== true || isWaitingCover({ decision, pod })) return undefined;
    const limit = settings.fallback.returnPerWindow;
    const window = policy.state === 'managed' ? policy.window : undefined;
    const recent = returnsInWindow(history.returns(decision.workloadUid), window, now);
    if (recent.length < limit) return undefined;
    const nextAt = nextTurn(recent, limit, window, now);
    return object('ReturnPaced', { returned: recent.length, limit }, nextAt === undefined ? HOUR_MILLIS : nextAt - now);
  },
);

/** A window is told by its end, which is the same from anywhere within it. */
function returnsInWindow(
  returns: readonly EpochMillis[],
  window: DisruptionWindow | undefined,
  now: EpochMillis,
): readonly EpochMillis[] {
  const end = window?.nextChange(now);
  if (window === undefined || end === undefined) return returns.filter((at) => at > now - HOUR_MILLIS);
  return returns.filter((at) => window.isOpen(at) && window.nextChange(at) === end);
}

/** When one more may go back: in the next window, or when the oldest of the last `limit` is an hour ago. */
function nextTurn(
  recent: readonly EpochMillis[],
  limit: number,
  window: DisruptionWindow | undefined,
  now: EpochMillis,
): EpochMillis | undefined {
  const end = window?.nextChange(now);
  if (window === undefined || end === undefined) return (recent.at(-limit) ?? now) + HOUR_MILLIS;
  return window.nextChange(end);
}

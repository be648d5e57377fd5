/**
 * Whether a change is worth new pods, or a restart of containers: in place a small step costs nothing, but here each
 * step costs every pod of the workload its life. More is held back only where it is a crumb of what is needed, cut by
 * the room there is, soon after another change: a quota that others leave bit by bit would be taken bit by bit, a
 * rollout each time. All else goes up at once: what has too little is worse off than what restarts.
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type SizeChange, sizeKeys, sizeOfContainer } from '../../model/pod-size.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import { isCutByRoom, wasKilled } from './advice.ts';
import type { SizedAdvice } from './recommend-workload.ts';
import { type Beginning, partsOf } from './side-by-side.ts';

export interface RestartRules {
  /** Some amount must change by this share at least, 0..1. What the policy lets fall in one step is enough, too. */
  readonly minShare: number;
  /** Between two changes of one workload of which the later is a decrease, or a raise that is cut below that share. */
  readonly cooldownMillis: Millis;
}

export interface RestartQuestion {
  readonly beginning: Beginning;
  readonly inForce: readonly ContainerSpecRecord[];
  readonly advice: readonly SizedAdvice[];
  /** The most that the policy lets an amount fall in one step, 0..1. */
  readonly maxStepDown: number;
  /** When the workload was last changed, in whichever resource. */
  readonly lastChangeAt: EpochMillis | undefined;
  readonly now: EpochMillis;
}

/** Why nothing of it begins now. Shares are 0..1, of what is in force. */
export type NotWorth =
  | { readonly reason: 'TooLittleToRestart'; readonly share: number; readonly needed: number }
  | { readonly reason: 'RaiseCutShort'; readonly share: number; readonly remainingMillis: Millis }
  | { readonly reason: 'RestartCooldown'; readonly remainingMillis: Millis };

/** Undefined where what is to begin is worth it. Along with a raise that is, everything is: pods are replaced anyway. */
export function notWorthRestart(question: RestartQuestion, rules: RestartRules): NotWorth | undefined {
  const { beginning, inForce, maxStepDown, lastChangeAt, now } = question;
  const remainingMillis = lastChangeAt === undefined ? 0 : Math.max(0, lastChangeAt + rules.cooldownMillis - now);
  if (beginning.raises.length > 0) {
    const share = largestShare(beginning.raises, inForce, (from, to) => to - from, Number.POSITIVE_INFINITY);
    const isCrumb = share < rules.minShare && isOnlyCut(beginning.raises, question.advice);
    return isCrumb && remainingMillis > 0 ? { reason: 'RaiseCutShort', share, remainingMillis } : undefined;
  }
  if (beginning.decreases.length === 0) return undefined;
  const fallsBy = (grace: number): number =>
    largestShare(beginning.decreases, inForce, (from, to) => from - to + grace, 0);
  const needed = Math.min(rules.minShare, maxStepDown);
  // A step that just reaches its bound is rounded up to a whole unit.
  if (fallsBy(1) < needed) return { reason: 'TooLittleToRestart', share: fallsBy(0), needed: rules.minShare };
  return remainingMillis > 0 ? { reason: 'RestartCooldown', remainingMillis } : undefined;
}

/** Whether room, and nothing else, keeps each of the raises from what is needed, and none follows from a kill. */
function isOnlyCut(raises: readonly SizeChange[], advice: readonly SizedAdvice[]): boolean {
  return partsOf(raises).every(({ container, resource }) => {
    const of = advice.find((each) => each.container === container)?.[resource];
    return of !== undefined && isCutByRoom(of) && !wasKilled(of);
  });
}

/**
 * Of all amounts that change, the largest change as a share of what is in force; at least 0.
 * @param ofNothing the share where there is none, or 0.
 */
function largestShare(
  changes: readonly SizeChange[],
  inForce: readonly ContainerSpecRecord[],
  change: (from: number, to: number) => number,
  ofNothing: number,
): number {
  const shares = changes.flatMap(({ container, to }) => {
    const size = sizeOfContainer(inForce, container) ?? {};
    return sizeKeys.flatMap((key) => {
      const [from = 0, next] = [size[key], to[key]];
      if (next === undefined) return [];
      return from === 0 ? ofNothing : change(from, next) / from;
    });
  });
  return Math.max(0, ...shares);
}

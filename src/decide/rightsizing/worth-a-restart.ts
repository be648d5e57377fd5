/**
 * Whether less is worth new pods, or a restart of containers: in place a small step costs nothing, but here each step
 * costs every pod of the workload its life. More is never held back here: what has too little is worse off than what
 * restarts.
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { sizeKeys, sizeOfContainer } from '../../model/pod-size.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { Beginning } from './side-by-side.ts';

export interface RestartRules {
  /** Some amount must fall by this share at least, 0..1. What the policy lets fall in one step is enough, too. */
  readonly minShare: number;
  /** Between two decreases of one workload. */
  readonly cooldownMillis: Millis;
}

export interface RestartQuestion {
  readonly beginning: Beginning;
  readonly inForce: readonly ContainerSpecRecord[];
  /** The most that the policy lets an amount fall in one step, 0..1. */
  readonly maxStepDown: number;
  /** When the workload was last changed, in whichever resource. */
  readonly lastChangeAt: EpochMillis | undefined;
  readonly now: EpochMillis;
}

/** Why decreases do not begin now. Shares are 0..1, of what is in force. */
export type NotWorth =
  | { readonly reason: 'TooLittleToRestart'; readonly share: number; readonly needed: number }
  | { readonly reason: 'RestartCooldown'; readonly remainingMillis: Millis };

/** Undefined where what is to begin is worth it. Along with a raise everything is: the pods are replaced anyway. */
export function notWorthRestart(question: RestartQuestion, rules: RestartRules): NotWorth | undefined {
  const { beginning, inForce, maxStepDown, lastChangeAt, now } = question;
  if (beginning.raises.length > 0 || beginning.decreases.length === 0) return undefined;
  const largest = (grace: number): number =>
    Math.max(0, ...beginning.decreases.flatMap(({ container, to }) => sharesOf(container, to, inForce, grace)));
  const needed = Math.min(rules.minShare, maxStepDown);
  // A step that just reaches its bound is rounded up to a whole unit.
  if (largest(1) < needed) return { reason: 'TooLittleToRestart', share: largest(0), needed: rules.minShare };
  const remainingMillis = lastChangeAt === undefined ? 0 : lastChangeAt + rules.cooldownMillis - now;
  return remainingMillis > 0 ? { reason: 'RestartCooldown', remainingMillis } : undefined;
}

/** By which share of itself each amount falls, `grace` units more than it does; below 0 where it rises. */
function sharesOf(
  container: string,
  to: ContainerSpecRecord['size'],
  inForce: readonly ContainerSpecRecord[],
  grace: number,
): readonly number[] {
  const from = sizeOfContainer(inForce, container) ?? {};
  return sizeKeys.flatMap((key) => {
    const [old, next] = [from[key], to[key]];
    return old === undefined || next === undefined || old === 0 ? [] : [(old - next + grace) / old];
  });
}

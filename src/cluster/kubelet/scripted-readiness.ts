/** Whether a container is ready at a moment of its run, by the script of its pod. Pure. */
import type { Millis } from '../../lib/units.ts';
import type { Behaviour } from './behaviour.ts';

/** Times count from the start of the container. */
export interface ScriptedReadiness {
  readonly isReady: boolean;
  /** When it became so. */
  readonly sinceMillis: Millis;
  /** When it changes next. */
  readonly untilMillis: Millis | 'never';
}

type Script = Pick<Behaviour, 'readyMillis' | 'unreadyAfterMillis' | 'unreadyForMillis'>;

export function readinessAt(
  { readyMillis, unreadyAfterMillis, unreadyForMillis }: Script,
  ranMillis: Millis,
): ScriptedReadiness {
  if (readyMillis === 'never' || ranMillis < readyMillis)
    return { isReady: false, sinceMillis: 0, untilMillis: readyMillis };
  // Whoever fails for no time at all does not fail.
  if (unreadyAfterMillis === 'never' || unreadyForMillis === 0)
    return { isReady: true, sinceMillis: readyMillis, untilMillis: 'never' };
  const roundMillis = unreadyForMillis === 'never' ? Number.POSITIVE_INFINITY : unreadyAfterMillis + unreadyForMillis;
  const rounds = Math.floor((ranMillis - readyMillis) / roundMillis);
  const beganMillis = readyMillis + (rounds === 0 ? 0 : rounds * roundMillis);
  const failsMillis = beganMillis + unreadyAfterMillis;
  if (ranMillis < failsMillis) return { isReady: true, sinceMillis: beganMillis, untilMillis: failsMillis };
  const untilMillis = unreadyForMillis === 'never' ? 'never' : beganMillis + roundMillis;
  return { isReady: false, sinceMillis: failsMillis, untilMillis };
}

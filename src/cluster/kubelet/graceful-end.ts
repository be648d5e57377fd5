/** How a deleted pod ends: by itself within its grace period, or killed at the end of that. Pure. */
import type { Pod } from '../../api/core.ts';
import type { Millis } from '../../lib/units.ts';
import type { Behaviour } from './behaviour.ts';

const DEFAULT_GRACE_SECONDS = 30;

export interface GracefulEnd {
  /** Its containers would take longer than they are given. */
  readonly isKilled: boolean;
  /** From now until all of them have ended. */
  readonly delayMillis: Millis;
}

/** @param isRunning whether any container runs: else there is nothing to wait for. */
export function gracefulEnd(
  { metadata, spec }: Pod,
  { stopMillis }: Pick<Behaviour, 'stopMillis'>,
  isRunning: boolean,
): GracefulEnd {
  const graceMillis =
    (metadata?.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
  const isKilled = stopMillis === 'never' || stopMillis > graceMillis;
  return { isKilled, delayMillis: isRunning ? (isKilled ? graceMillis : stopMillis) : 0 };
}

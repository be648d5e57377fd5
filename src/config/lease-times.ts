/** What a lease shorter than the default means for the times that have to fit into it. */
import { formatDuration, parseDuration } from '../lib/duration.ts';
import type { Millis } from '../lib/units.ts';
import { configTree } from './schema.ts';

const { leaseDuration, ...parts } = configTree.operator.leaderElection;
const SECTION = 'operator.leaderElection';

/**
 * The times that are left out where the lease is shorter than its default, by path: they keep their proportion to it.
 * Spotalis knows the lease alone, so its files name no others.
 * @param given what is written at a path; undefined: nothing.
 */
export function timesWithin(given: (path: string) => unknown): ReadonlyMap<string, string> {
  const factor = millisOf(given(`${SECTION}.leaseDuration`)) / millisOf(leaseDuration.defaultValue);
  if (!(factor > 0 && factor < 1)) return new Map();
  const leftOut = (['renewDeadline', 'retryPeriod'] as const).filter(
    (name) => given(`${SECTION}.${name}`) === undefined,
  );
  return new Map(
    leftOut.map((name) => [
      `${SECTION}.${name}`,
      formatDuration(Math.floor(factor * millisOf(parts[name].defaultValue))),
    ]),
  );
}

/** NaN for what is no duration: the key itself says so. */
function millisOf(value: unknown): Millis {
  try {
    return typeof value === 'string' ? parseDuration(value) : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

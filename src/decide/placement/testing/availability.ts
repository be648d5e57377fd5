/** What is known of spot with pauses of 3 minutes that double, up to an hour. */
import { createSeededRandom } from '../../../lib/random.ts';
import { createSpotAvailability, type SpotAvailability } from '../spot-availability.ts';
import type { SpotBreakerOptions } from '../spot-breaker.ts';
import { createSpotMemory, type SpotMemory } from '../spot-memory.ts';

export const MINUTE = 60_000;
export const PROBE_LIMIT = 7 * MINUTE;

/** @param jitter part of a pause. */
export function anAvailability(jitter = 0, seed = 1): SpotAvailability {
  return createSpotAvailability(optionsWith(jitter, seed));
}

export function aSpotMemory(): SpotMemory {
  return createSpotMemory(optionsWith(0, 1));
}

function optionsWith(jitter: number, seed: number): SpotBreakerOptions {
  return {
    random: createSeededRandom(seed),
    backoff: () => ({ initialMillis: 3 * MINUTE, factor: 2, maxMillis: 60 * MINUTE, jitter }),
    probeLimitMillis: () => PROBE_LIMIT,
  };
}

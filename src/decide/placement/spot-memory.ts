/** Everything remembered of spot in one place: what pods found, who is on the way there, and which nodes were lost. */
import { createSpotArrivals, type SpotArrivals } from './spot-arrivals.ts';
import { createSpotAvailability, type SpotAvailability } from './spot-availability.ts';
import type { SpotBreakerOptions } from './spot-breaker.ts';
import { createSpotLosses, type SpotLosses } from './spot-losses.ts';
import type { SpotOutlook } from './spot-outlook.ts';

export interface SpotMemory extends SpotOutlook, SpotAvailability, SpotArrivals, SpotLosses {}

export function createSpotMemory(options: SpotBreakerOptions): SpotMemory {
  return { ...createSpotAvailability(options), ...createSpotArrivals(), ...createSpotLosses() };
}

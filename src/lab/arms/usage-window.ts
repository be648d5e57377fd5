/** The usage of pods over a sliding window, for arms that size by what was used lately. */
import type { Millicores, Millis } from '../../lib/units.ts';
import type { PodObservation } from '../arm.ts';

export interface UsageWindow {
  add(observations: readonly PodObservation[], now: Millis): void;
  /** In the order of time. */
  of(pod: string): readonly Millicores[];
}

export function createUsageWindow(lengthMillis: Millis): UsageWindow {
  const samples = new Map<string, { readonly at: Millis; readonly usage: Millicores }[]>();
  return {
    add(observations, now) {
      for (const { pod, usage } of observations) {
        const kept = (samples.get(pod.name) ?? []).filter(({ at }) => now - at < lengthMillis);
        samples.set(pod.name, [...kept, { at: now, usage }]);
      }
    },
    of: (pod) => (samples.get(pod) ?? []).map(({ usage }) => usage),
  };
}

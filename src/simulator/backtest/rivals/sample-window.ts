/** The samples of the last days or hours, whole, for rivals that keep no histogram. */
import type { EpochMillis, Millis } from '../../../lib/units.ts';

export interface SampleWindow {
  add(value: number, at: EpochMillis): void;
  /** In ascending order. */
  sorted(): readonly number[];
  mean(): number;
  max(): number;
}

export function createSampleWindow(lengthMillis: Millis): SampleWindow {
  let samples: { value: number; at: EpochMillis }[] = [];
  /** Samples at the beginning that have left the window. */
  let outdated = 0;
  const sorted: number[] = [];
  let sum = 0;

  function dropOutdated(now: EpochMillis): void {
    let oldest = samples[outdated];
    while (oldest !== undefined && oldest.at <= now - lengthMillis) {
      sum -= oldest.value;
      sorted.splice(lowerBound(sorted, oldest.value), 1);
      outdated++;
      oldest = samples[outdated];
    }
    // In large pieces: one by one would move all others each time.
    if (outdated > 1000) {
      samples = samples.slice(outdated);
      outdated = 0;
    }
  }

  return {
    add(value, at) {
      samples.push({ value, at });
      sum += value;
      sorted.splice(lowerBound(sorted, value), 0, value);
      dropOutdated(at);
    },
    sorted: () => sorted,
    mean: () => (sorted.length === 0 ? 0 : sum / sorted.length),
    max: () => sorted.at(-1) ?? 0,
  };
}

/** Index of the first element that is not below `value`. */
function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? Number.POSITIVE_INFINITY) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

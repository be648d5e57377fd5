/** The samples of the last days or hours, whole, for rivals that keep no histogram. */
import type { EpochMillis, Millis } from '../../../lib/units.ts';
import { createSortedNumbers } from './sorted-numbers.ts';

export interface SampleWindow {
  /** Samples come in order of time; those that leave the window by it are forgotten. */
  add(value: number, at: EpochMillis): void;
  /** The same without a sample: of a pod that is gone there are no more. */
  forget(now: EpochMillis): void;
  /** How many there are. */
  length(): number;
  /** The one with `rank` lower ones before it, from 0; undefined beyond the highest. */
  at(rank: number): number | undefined;
  /** All of them in ascending order. */
  sorted(): number[];
  mean(): number;
  max(): number;
}

export function createSampleWindow(lengthMillis: Millis): SampleWindow {
  let samples: { value: number; at: EpochMillis }[] = [];
  /** Samples at the beginning that have left the window. */
  let outdated = 0;
  const numbers = createSortedNumbers();
  let sum = 0;

  /**
   * The window is open at its beginning, as a range of Prometheus 3 is: what is exactly as old as it is long has left.
   */
  function dropOutdated(now: EpochMillis): void {
    let oldest = samples[outdated];
    while (oldest !== undefined && oldest.at <= now - lengthMillis) {
      sum -= oldest.value;
      numbers.remove(oldest.value);
      outdated++;
      oldest = samples[outdated];
    }
    // In large pieces: one by one would move all others each time.
    if (outdated > 1000 && outdated > samples.length / 4) {
      samples = samples.slice(outdated);
      outdated = 0;
    }
  }

  return {
    add(value, at) {
      samples.push({ value, at });
      sum += value;
      numbers.insert(value);
      dropOutdated(at);
    },
    forget: dropOutdated,
    length: numbers.length,
    at: numbers.at,
    sorted: numbers.values,
    mean: () => (numbers.length() === 0 ? 0 : sum / numbers.length()),
    max: () => numbers.at(numbers.length() - 1) ?? 0,
  };
}

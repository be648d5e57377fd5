/** Whether what is remembered of a container is enough to lower it by. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type MemoryPeak, PEAK_SPAN_MILLIS } from '../../model/usage-memory.ts';
import type { UsageProfile } from '../../model/usage-profile.ts';
import { firstSpan } from './memory-target.ts';
import type { RightsizingPolicy } from './policy.ts';
import type { KnownWindow } from './recommend.ts';

/** Of CPU and memory both: long enough, of enough samples, and up to now. */
export function isTrusted(
  profile: UsageProfile | undefined,
  {
    minHistoryMillis,
    minSamples,
    staleAfterMillis,
  }: Pick<RightsizingPolicy, 'minHistoryMillis' | 'minSamples' | 'staleAfterMillis'>,
  now: EpochMillis,
): boolean {
  if (profile === undefined) return false;
  const { cpu, memory } = profile;
  const [first, lastCpu, lastMemory] = [cpu.firstAt(), cpu.lastAt(), memory.lastAt()];
  if (first === undefined || lastCpu === undefined || lastMemory === undefined) return false;
  return (
    Math.min(lastCpu - first, memory.knownMillis()) >= minHistoryMillis &&
    Math.min(cpu.samples(), memory.samples()) >= (minSamples ?? 0) &&
    [lastCpu, lastMemory].every((at) => isOfLate(at, staleAfterMillis, now))
  );
}

/**
 * Whether the last sample tells of now. One that is as far in the future says that a clock is or was wrong: what came
 * since then may be missing.
 */
export function isOfLate(lastAt: EpochMillis, staleAfterMillis: Millis, now: EpochMillis): boolean {
  return Math.abs(now - lastAt) <= staleAfterMillis;
}

/**
 * What the target goes by, which may be far less than all that is remembered: minutes, of a workload that had no pods for
 * days, or of a window that begins anew.
 */
export interface LookBack {
  /** From the earliest sample in it to the last. */
  readonly knownMillis: Millis;
  /** With less, nothing is lowered. */
  readonly neededMillis: Millis;
}

const DAY: Millis = 86_400_000;
/** Of a day, or of all that counts where that is less: a pod that is there by day alone has no gap. */
const ENOUGH = 0.75;

/** Undefined where the window does not say since when anything is known. */
export function lookBackOfWindow(
  window: KnownWindow | undefined,
  resource: 'cpu' | 'memory',
  minHistoryMillis: Millis,
): LookBack | undefined {
  const since = window?.since?.[resource];
  if (since === undefined || window?.from === undefined || window.to === undefined) return undefined;
  return lookBack(window.to - since, window.to - window.from, minHistoryMillis);
}

/** @param lastAt of the last sample. */
export function lookBackOfPeaks(
  peaks: readonly MemoryPeak[],
  { lookBackMillis, lastAt, now }: { lookBackMillis: Millis; lastAt: EpochMillis; now: EpochMillis },
  minHistoryMillis: Millis,
): LookBack | undefined {
  const oldest = peaks.find(({ span }) => span >= firstSpan(lookBackMillis, now));
  return oldest && lookBack(lastAt - oldest.span * PEAK_SPAN_MILLIS, lookBackMillis, minHistoryMillis);
}

function lookBack(knownMillis: Millis, lengthMillis: Millis, minHistoryMillis: Millis): LookBack {
  return { knownMillis, neededMillis: Math.min(minHistoryMillis, ENOUGH * Math.min(DAY, lengthMillis)) };
}

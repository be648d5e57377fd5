/** Whether what is remembered of a container is enough to lower it by. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { UsageProfile } from '../../model/usage-profile.ts';
import type { RightsizingPolicy } from './policy.ts';

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

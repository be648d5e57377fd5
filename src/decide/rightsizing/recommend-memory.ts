/** Memory: the target of the policy's strategy, the need an out-of-memory kill showed, then the stages every resource goes through. */

import { exactPercentile } from '../../lib/exact-percentile.ts';
import type { Bytes, EpochMillis } from '../../lib/units.ts';
import { type MemoryHistory, PEAK_SPAN_MILLIS } from '../../model/usage-memory.ts';
import { amend, type Draft, noAdvice, type ResourceAdvice } from './advice.ts';
import { finish } from './finish.ts';
import { memoryNeed } from './memory-target.ts';
import type { PeakTarget, PercentileTarget } from './policy.ts';
import type { RecommendInput } from './recommend.ts';

const MIB: Bytes = 1024 * 1024;
/** A kill does not tell how much was wanted. For a day there is ample room, so that one is enough; then what was used counts. */
const OOM_ROOM = 1.5;
const OOM_VALID_MILLIS = 86_400_000;

export function recommendMemory({ profile, memory: current, policy, now }: RecommendInput): ResourceAdvice {
  const { memory } = profile;
  const { target } = policy.memory;
  const lastAt = memory.lastAt();
  const oom = memory.oom();
  const isOomValid = oom !== undefined && now - oom.at < OOM_VALID_MILLIS;
  const known = memoryDraft(memory, target, now);
  if (known === undefined && !isOomValid) return noAdvice('NoData', 'no memory usage is known');
  const isFresh = lastAt !== undefined && now - lastAt <= policy.staleAfterMillis;
  if (!isFresh && !isOomValid) {
    return noAdvice('Stale', `the last memory sample is of ${new Date(lastAt ?? 0).toISOString()}`);
  }
  const start: Draft = known ?? { value: 0, notes: [] };
  const floor = (oom?.bytes ?? 0) * OOM_ROOM;
  const draft =
    isOomValid && floor > start.value
      ? amend(
          start,
          'out-of-memory',
          floor,
          `killed for want of memory at ${new Date(oom.at).toISOString()}: at least ${oom.bytes} bytes are needed`,
        )
      : start;
  const spans = memory.peaks();
  const first = spans[0]?.span ?? 0;
  return finish({
    draft,
    current,
    rules: policy.memory,
    historyMillis: spans.length === 0 ? 0 : now - first * PEAK_SPAN_MILLIS,
    minHistoryMillis: policy.minHistoryMillis,
    roundTo: target.strategy === 'Peak' ? MIB : 1,
    leastLimit: Math.max(0, ...spans.map(({ bytes }) => bytes)),
    now,
    gainOf: undefined,
  });
}

function memoryDraft(
  memory: MemoryHistory,
  target: PeakTarget | PercentileTarget,
  now: EpochMillis,
): Draft | undefined {
  if (target.strategy === 'Peak') {
    const need = memoryNeed(memory.peaks(), target, now);
    if (need === undefined) return undefined;
    const text = `highest use ${need.peak} bytes, and ${Math.round(need.room * 1000) / 10} % of room for growth`;
    return { value: need.bytes, notes: [{ stage: 'target', value: need.bytes, text }] };
  }
  const peaks = memory
    .peaks()
    .map(({ bytes }) => bytes)
    .sort((a, b) => a - b);
  if (peaks.length === 0) return undefined;
  const at = exactPercentile(peaks, target.percentile);
  const value = Math.trunc(at * target.safetyFactor);
  const text = `P${target.percentile} of peaks ${at} bytes times ${target.safetyFactor.toFixed(2)}`;
  return { value, notes: [{ stage: 'target', value, text }] };
}

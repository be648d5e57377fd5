/**
 * Memory: the target of the policy's strategy, the need an out-of-memory kill showed, then the stages every resource
 * goes through.
 */

import { exactPercentile } from '../../lib/exact-percentile.ts';
import type { Bytes, EpochMillis, Millis } from '../../lib/units.ts';
import { type MemoryHistory, type OomNeed, PEAK_SPAN_MILLIS } from '../../model/usage-memory.ts';
import { amend, type Draft, noAdvice, type ResourceAdvice, raiseTo } from './advice.ts';
import { settle } from './finish.ts';
import { fadingPercentile, memoryNeed, recentPeak } from './memory-target.ts';
import type { MemoryTarget, RightsizingPolicy } from './policy.ts';
import type { RecommendInput } from './recommend.ts';
import { isShaped, roundUp, type Shaped, shape } from './shape.ts';
import { isOfLate, type LookBack, lookBackOfPeaks, lookBackOfWindow } from './trusted-history.ts';
import { windowPercentile } from './window-percentile.ts';

const MIB: Bytes = 1024 * 1024;
/**
 * A kill does not tell how much was wanted. For a day there is ample room, so that one is enough; then what was used
 * counts.
 */
const OOM_ROOM = 1.5;
const OOM_VALID_MILLIS = 86_400_000;
/** How far a lowered limit stays above the highest use, under `WhenSafe`. */
const LIMIT_MARGIN = 1.1;
/** The peak of this long counts as what is used now. */
const RECENT_MILLIS: Millis = 2 * PEAK_SPAN_MILLIS;

export function recommendMemory(input: RecommendInput): ResourceAdvice {
  const shaped = shapeMemory(input);
  return isShaped(shaped) ? settle(shaped) : shaped;
}

/** Up to the stages that look at the whole pod; or why there is no value. */
export function shapeMemory(input: RecommendInput): Shaped | ResourceAdvice {
  const { profile, memory: current, policy, window, floors, now } = input;
  const { memory } = profile;
  const { target } = policy.memory;
  const lastAt = memory.lastAt();
  const oom = memory.oom();
  const isOomValid = oom !== undefined && now - oom.at < OOM_VALID_MILLIS;
  const known = memoryDraft(memory, target, window, now);
  if (known === undefined && !isOomValid) return noAdvice('NoData', 'no memory usage is known');
  const isFresh = lastAt !== undefined && isOfLate(lastAt, policy.staleAfterMillis, now);
  if (!isFresh && !isOomValid) {
    return noAdvice('Stale', `the last memory sample is of ${new Date(lastAt ?? 0).toISOString()}`);
  }
  const start: Draft = known ?? { value: 0, notes: [] };
  const afterOom = isOomValid ? afterKill(start, oom, current.request) : start;
  // A kill tells that more is needed; what is used by now it does not tell.
  const killed = isFresh
    ? afterOom
    : raiseTo(afterOom, current.request, 'confidence', 'not lowered: no sample of late');
  const floor = floors?.memory;
  // A window may be longer than peaks are kept.
  const highest = Math.max(window?.memory?.max ?? 0, ...memory.peaks().map(({ bytes }) => bytes));
  const roundTo = target.strategy === 'Peak' ? MIB : 1;
  return shape({
    draft: raiseTo(killed, floor, 'learned-floor', `less than ${floor} bytes did it harm after a decrease`),
    current,
    rules: policy.memory,
    historyMillis: memory.knownMillis(),
    minHistoryMillis: policy.minHistoryMillis,
    samples: memory.samples(),
    minSamples: policy.minSamples,
    lookBack: lookBackOf(input),
    roundTo,
    leastLimit: roundUp(highest * (policy.memoryDecrease === 'Always' ? 1 : LIMIT_MARGIN), roundTo),
    safeFloor: safeFloor(memory, policy, current.request, now),
    safeFloorHold: policy.memoryDecrease === 'Never' ? 'MemoryDecreaseNotAllowed' : 'MemoryDecreaseUnsafe',
    now,
    gainOf: undefined,
  });
}

/** That it was killed counts also where as much is asked for already: it has less than was needed then. */
function afterKill(draft: Draft, { bytes, at }: OomNeed, request: Bytes | undefined): Draft {
  const ample = bytes * OOM_ROOM;
  const isShort = (request ?? 0) < bytes;
  if (draft.value >= ample && !isShort) return draft;
  const text = `killed for want of memory at ${new Date(at).toISOString()}: at least ${bytes} bytes are needed`;
  return amend(draft, 'out-of-memory', Math.max(draft.value, ample), text);
}

/** Undefined where all peaks count. */
function lookBackOf({ profile: { memory }, policy, window, now }: RecommendInput): LookBack | undefined {
  const { target } = policy.memory;
  if (target.strategy === 'Histogram') return undefined;
  const ofWindow = target.strategy === 'Peak' ? undefined : lookBackOfWindow(window, 'memory', policy.minHistoryMillis);
  const lastAt = memory.lastAt();
  if (ofWindow !== undefined || target.strategy === 'Percentile' || lastAt === undefined) return ofWindow;
  return lookBackOfPeaks(memory.peaks(), { ...target, lastAt, now }, policy.minHistoryMillis);
}

/** How far the request may fall in one go: Property 5. */
function safeFloor(
  memory: MemoryHistory,
  { memoryDecrease }: RightsizingPolicy,
  request: number | undefined,
  now: EpochMillis,
): Bytes {
  switch (memoryDecrease) {
    case 'Never':
      return request ?? 0;
    case 'WhenSafe':
      return recentPeak(memory.peaks(), RECENT_MILLIS, now);
    case 'Always':
      return 0;
  }
}

function memoryDraft(
  memory: MemoryHistory,
  target: MemoryTarget,
  window: RecommendInput['window'],
  now: EpochMillis,
): Draft | undefined {
  const peaks = memory.peaks();
  const draft = (value: number, text: string): Draft => ({ value, notes: [{ stage: 'target', value, text }] });
  switch (target.strategy) {
    case 'Peak': {
      const need = memoryNeed(peaks, target, now);
      if (need === undefined) return undefined;
      const room = Math.round(need.room * 1000) / 10;
      return draft(need.bytes, `highest use ${need.peak} bytes, and ${room} % of room for growth`);
    }
    case 'Percentile': {
      const ofWindow = windowPercentile(window?.memory, target.percentile);
      const sorted = peaks.map(({ bytes }) => bytes).sort((a, b) => a - b);
      if (ofWindow === undefined && sorted.length === 0) return undefined;
      const at = ofWindow ?? exactPercentile(sorted, target.percentile);
      const what = ofWindow === undefined ? 'peaks' : 'usage';
      return draft(
        Math.trunc(at * target.safetyFactor),
        `P${target.percentile} of ${what} ${at} bytes times ${target.safetyFactor.toFixed(2)}`,
      );
    }
    case 'Histogram': {
      const at = fadingPercentile(peaks, target.percentile, target.halfLifeMillis);
      if (at === undefined) return undefined;
      const margin = Math.round(target.margin * 100);
      return draft(at * (1 + target.margin), `P${target.percentile} of fading peaks ${at} bytes and ${margin} %`);
    }
    case 'Max': {
      const seen = window?.memory?.max ?? 0;
      const isExact = seen > 0 && window?.isSampled !== true;
      const highest = isExact ? seen : Math.max(seen, recentPeak(peaks, target.lookBackMillis, now));
      if (highest === 0) return undefined;
      return draft(
        Math.trunc(highest * target.safetyFactor),
        `highest use ${highest} bytes times ${target.safetyFactor.toFixed(2)}`,
      );
    }
  }
}

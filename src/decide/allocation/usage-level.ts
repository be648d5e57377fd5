/**
 * What a pod uses on average, and how far single ticks are from that: what tells a changed load from noise. Requests
 * that come at random make usage differ from tick to tick for ever, and a plan that follows it writes for ever.
 */
import type { Millicores } from '../../lib/units.ts';

export interface UsageLevel {
  readonly mean: Millicores;
  /** Standard deviation of a tick's usage. */
  readonly deviation: Millicores;
  /** Ticks on this level, this one included, up to `memoryTicks`; 1: it begins here. */
  readonly samples: number;
  /** How much the ticks have been off to the same side lately, in deviations (CUSUM): above, and below. */
  readonly above: number;
  readonly below: number;
}

export interface LevelRules {
  /** A tick this many deviations from the mean is another load and begins a new level. */
  readonly surprise: number;
  /** Whose load jumps varies more than was thought: by so many times. In the end its jumps are no surprise any more. */
  readonly afterJump: number;
  /** So are ticks that add up to this many beyond what each may be off. */
  readonly drift: number;
  /** Ticks that are remembered: so slowly mean and deviation follow. */
  readonly memoryTicks: number;
  /** Ticks until a level is known well enough to judge a want by it. */
  readonly knownAfterTicks: number;
  /** A want below the mean and this many deviations is too low, and comes to... */
  readonly low: number;
  readonly middle: number;
  /** ...and one above the mean and this many is too high. */
  readonly high: number;
}

/** Assumed of a level that begins, and the least ever: share of the mean, millicores. */
const FIRST = { share: 0.1, floor: 10 };
const LEAST = { share: 0.02, floor: 3 };
/** What is assumed at first counts as so many ticks. */
const PRIOR_TICKS = 3;
/** Half a deviation off is nothing: the usual choice, best for finding a change of one deviation. */
const SLACK = 0.5;

/** One tick. A jump and a slow drift (CUSUM) both begin a new level; what is neither moves the mean by ever less. */
export function nextLevel(previous: UsageLevel | undefined, usage: Millicores, rules: LevelRules): UsageLevel {
  if (previous === undefined) return levelAt(usage, 0);
  const { mean, deviation } = previous;
  const off = Math.abs(usage - mean);
  if (off > rules.surprise * deviation) {
    return levelAt(usage, Math.max(deviation, Math.min(rules.afterJump * deviation, off / 2)));
  }
  const above = Math.max(0, previous.above + (usage - mean) / deviation - SLACK);
  const below = Math.max(0, previous.below + (mean - usage) / deviation - SLACK);
  if (Math.max(above, below) > rules.drift) return levelAt(usage, deviation);
  const samples = Math.min(previous.samples + 1, rules.memoryTicks);
  const ofVariance = 1 / Math.min(samples + PRIOR_TICKS, rules.memoryTicks);
  const variance = (1 - ofVariance) * (deviation ** 2 + ofVariance * off ** 2);
  const next = mean + (usage - mean) / samples;
  return { mean: next, deviation: Math.max(Math.sqrt(variance), atLeast(LEAST, next)), samples, above, below };
}

/** Whether the load has changed for certain: a level can also begin anew where it was. */
export function isOther(before: UsageLevel, after: UsageLevel): boolean {
  return after.samples === 1 && Math.abs(after.mean - before.mean) > 2 * before.deviation;
}

/** One that begins. */
function levelAt(mean: Millicores, deviation: Millicores): UsageLevel {
  return { mean, deviation: Math.max(deviation, atLeast(FIRST, mean)), samples: 1, above: 0, below: 0 };
}

function atLeast({ share, floor }: typeof FIRST, mean: Millicores): Millicores {
  return Math.max(floor, share * mean);
}

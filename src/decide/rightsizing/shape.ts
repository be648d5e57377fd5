/** From a target to a value that may be requested: confidence, rounding, bounds, and what limits have to do with it. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { amend, type Draft, type HoldReason, type ResourceAdvice, raiseTo, type Stage } from './advice.ts';
import { applyLimitRule } from './limits.ts';
import type { ResourceRules } from './policy.ts';
import type { CurrentResource } from './recommend.ts';
import type { LookBack } from './trusted-history.ts';

/** All amounts in the unit of the resource: millicores or bytes. */
export interface ShapeInput {
  /** The target of the strategy, and what floors made of it. */
  readonly draft: Draft;
  readonly current: CurrentResource;
  readonly rules: ResourceRules<unknown>;
  /** Length of the history behind the target, and how much makes it trustworthy; 0 trusts any. */
  readonly historyMillis: Millis;
  readonly minHistoryMillis: Millis;
  /** The same in samples; left out, they are not counted. */
  readonly samples?: number;
  readonly minSamples?: number;
  /** Left out: all of the history counts. */
  readonly lookBack?: LookBack | undefined;
  /** Values become whole multiples of this, upwards. */
  readonly roundTo: number;
  /** A limit never goes below this. */
  readonly leastLimit: number;
  /** A request never falls below this in one go, whatever the target: the recent peak of memory. 0: it may. */
  readonly safeFloor?: number;
  /** What is told where the floor keeps the request from falling at all. */
  readonly safeFloorHold?: HoldReason;
  readonly now: EpochMillis;
  /**
   * Shares by which a change lowers the expected cost, and by which it must; undefined where the strategy has no price.
   */
  readonly gainOf:
    | ((advised: number, current: number) => { readonly actual: number; readonly needed: number })
    | undefined;
}

/**
 * A value that fits policy and limits. Stages that look at the whole pod may lower it further, and then lower
 * `ceiling`.
 */
export interface Shaped extends Draft {
  readonly input: ShapeInput;
  /** Nothing may be requested above this: bound, kept limit, LimitRange. It wins over every other stage. */
  readonly ceiling: number;
  /** The limit that belongs to the value; undefined leaves the container's as it is. */
  readonly limit: number | undefined;
  /** What LimitRanges let a limit be: at most `max`, and at most `maxRatio` times the request; left out, anything. */
  readonly limitRange?: { readonly max: number; readonly maxRatio: number };
}

/**
 * Another value, and the limit that belongs to that: a stage that lowers a request must not leave it the limit of more.
 */
export function moveTo(shaped: Shaped, stage: Stage, value: number, text: string): Shaped {
  const { rules, current, leastLimit } = shaped.input;
  const keptFor = whyLimitStays(shaped.input, value);
  const { limit } = applyLimitRule(value, rules.limit, { ...current, leastLimit, keptFor });
  return amend({ ...shaped, limit: limitInRange(shaped, limit, value) }, stage, value, text);
}

/**
 * As much of a limit as LimitRanges allow beside this request. Their ratio gives way to the least limit, as that keeps
 * a container alive.
 */
export function limitInRange(
  { input, limitRange }: Pick<Shaped, 'input' | 'limitRange'>,
  limit: number | undefined,
  request: number,
): number | undefined {
  if (limit === undefined || limitRange === undefined) return limit;
  const { max, maxRatio } = limitRange;
  const byRatio = maxRatio === Number.POSITIVE_INFINITY ? maxRatio : Math.floor(request * maxRatio);
  return Math.max(request, Math.min(limit, max, Math.max(byRatio, Math.ceil(input.leastLimit))));
}

export function isShaped(value: Shaped | ResourceAdvice): value is Shaped {
  return 'ceiling' in value;
}

/**
 * Confidence first, so that bounds and limits hold for what it raised; rounding before bounds, which need not be whole
 * multiples.
 */
export function shape(input: ShapeInput): Shaped {
  const { current, rules } = input;
  const confident = raiseWithLowConfidence(input.draft, input);
  const bounded = clamp(round(confident, input.roundTo), rules);
  const keptFor = whyLimitStays(input, bounded.value);
  const limited = applyLimitRule(bounded.value, rules.limit, { ...current, leastLimit: input.leastLimit, keptFor });
  const draft = limited.text === undefined ? bounded : amend(bounded, 'limit', limited.request, limited.text);
  // A limit that stays caps the request; one that moves follows it.
  const keptLimit = rules.limit.policy === 'Keep' ? current.limit : undefined;
  return { ...draft, input, ceiling: Math.min(rules.bounds.max, keptLimit ?? rules.bounds.max), limit: limited.limit };
}

/**
 * What keeps a request from being lowered keeps its limit from it, too, also where the request rises: by what a few
 * minutes have shown, a raise would take most of a generous limit away. Undefined: it may fall.
 */
function whyLimitStays(input: ShapeInput, value: number): string | undefined {
  const { current, rules, safeFloorHold, now } = input;
  const { request = 0, limit, lastChangeAt = Number.NEGATIVE_INFINITY } = current;
  // Of what must be less, a limit that is the request falls with it: one above would be another QoS class.
  if (value < request && request === limit) return undefined;
  if (isTooShort(input)) return 'not lowered by so little history';
  if (safeFloorHold === 'MemoryDecreaseNotAllowed') return 'memoryDecrease is Never';
  // Held back as a whole where the request falls.
  const readyAt = lastChangeAt + rules.change.cooldownDownMillis;
  return value > request && now < readyAt ? `no change down until ${new Date(readyAt).toISOString()}` : undefined;
}

/** How far the history can be trusted, 0..1. */
export function confidenceOf({ historyMillis, minHistoryMillis, samples, minSamples }: ShapeInput): number {
  const byTime = minHistoryMillis > 0 ? historyMillis / minHistoryMillis : 1;
  const bySamples = samples !== undefined && minSamples !== undefined && minSamples > 0 ? samples / minSamples : 1;
  return Math.min(1, Math.max(0, Math.min(byTime, bySamples)));
}

/** The history is not long enough to lower anything by it, or what the target goes by of it is not. */
export function isTooShort(input: ShapeInput): boolean {
  return confidenceOf(input) < 1 || missingOf(input) > 0;
}

function missingOf({ lookBack }: ShapeInput): Millis {
  return lookBack === undefined ? 0 : Math.max(0, lookBack.neededMillis - lookBack.knownMillis);
}

/**
 * How long it takes until the history can be trusted, at the pace it has grown so far; undefined where that
 * cannot be told yet.
 */
export function untilTrusted(input: ShapeInput): Millis | undefined {
  const { historyMillis, minHistoryMillis, samples, minSamples } = input;
  const byTime = Math.max(missingOf(input), minHistoryMillis - historyMillis);
  const missing = Math.max(0, (minSamples ?? 0) - (samples ?? Number.POSITIVE_INFINITY));
  if (missing === 0) return byTime;
  return samples === undefined || samples < 2 || historyMillis <= 0
    ? undefined
    : Math.max(byTime, Math.ceil((missing * historyMillis) / (samples - 1)));
}

/** A short history may have missed the peak: it raises, by up to half, and never lowers. */
function raiseWithLowConfidence(draft: Draft, input: ShapeInput): Draft {
  const confidence = confidenceOf(input);
  if (confidence === 1) return missingOf(input) > 0 ? notLowered(draft, input) : draft;
  const factor = 1 + (1 - confidence) / 2;
  const value = Math.max(draft.value * factor, input.current.request ?? 0);
  return amend(
    draft,
    'confidence',
    value,
    `only ${inHours(input.historyMillis)} h of history: raised by ${Math.round((factor - 1) * 100)} %, never lowered`,
  );
}

/** What was used before a gap is known and does not count any more: no reason to raise, and none to lower. */
function notLowered(draft: Draft, { lookBack, current }: ShapeInput): Draft {
  const text = `not lowered: of the time that counts only ${inHours(lookBack?.knownMillis ?? 0)} h are known`;
  return raiseTo(draft, current.request, 'confidence', text);
}

const inHours = (millis: Millis): number => Math.round(millis / 360_000) / 10;

/** Upwards to a whole multiple. 100 and a tenth are 110.00000000000001; that is no reason for the next one. */
export function roundUp(value: number, multiple: number): number {
  const exact = value / multiple;
  const hair = Math.max(1e-9, exact * 2 ** -50);
  // Never the -0 that rounding a hair below 0 gives.
  return Math.max(0, Math.ceil(exact - hair)) * multiple;
}

function round(draft: Draft, multiple: number): Draft {
  const value = roundUp(draft.value, multiple);
  return value === draft.value ? draft : amend(draft, 'rounding', value, `up to a whole multiple of ${multiple}`);
}

function clamp(draft: Draft, { bounds }: ResourceRules<unknown>): Draft {
  if (draft.value < bounds.min) return amend(draft, 'bounds', bounds.min, `raised to the minimum of ${bounds.min}`);
  if (draft.value > bounds.max) return amend(draft, 'bounds', bounds.max, `held at the maximum of ${bounds.max}`);
  return draft;
}

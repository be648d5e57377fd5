/** The stages CPU and memory share, from a target to advice: confidence, step, rounding, bounds, limit, change. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { amend, type Draft, type ResourceAdvice } from './advice.ts';
import { judgeChange } from './change-gate.ts';
import { applyLimitRule } from './limits.ts';
import type { ResourceRules } from './policy.ts';
import type { CurrentResource } from './recommend.ts';

export interface FinishInput {
  readonly draft: Draft;
  readonly current: CurrentResource;
  readonly rules: ResourceRules<unknown>;
  /** Length of the history behind the target, and how much makes it trustworthy. */
  readonly historyMillis: Millis;
  readonly minHistoryMillis: Millis;
  /** Values become whole multiples of this, upwards. */
  readonly roundTo: number;
  /** A limit never goes below this. */
  readonly leastLimit: number;
  readonly now: EpochMillis;
  /** Prices a request, so that the change can be weighed; undefined where the strategy has no price. */
  readonly gainOf:
    | ((advised: number, current: number) => { readonly actual: number; readonly needed: number })
    | undefined;
}

export function finish(input: FinishInput): ResourceAdvice {
  const { current, rules, now } = input;
  const confident = raiseWithLowConfidence(input.draft, input);
  const stepped = boundStep(confident, current.request, rules.change.maxStepDown);
  const rounded = round(stepped, input.roundTo);
  const bounded = clamp(rounded, rules);
  const limited = applyLimitRule(bounded.value, rules.limit, { ...current, leastLimit: input.leastLimit });
  const draft = limited.text === undefined ? bounded : amend(bounded, 'limit', limited.request, limited.text);
  const verdict = judgeChange(
    {
      current: current.request,
      advised: draft.value,
      lastChangeAt: current.lastChangeAt,
      now,
      gain: current.request === undefined ? undefined : input.gainOf?.(draft.value, current.request),
    },
    rules.change,
  );
  const isLow = input.historyMillis < input.minHistoryMillis;
  return {
    request: draft.value,
    limit: limited.limit,
    isDue: verdict.isDue,
    held: verdict.isDue ? undefined : isLow && draft.value === current.request ? 'LowConfidence' : verdict.held,
    notes: amend(draft, 'change', draft.value, verdict.text).notes,
  };
}

/** A short history may have missed the peak: it raises, by up to half, and never lowers. */
function raiseWithLowConfidence(draft: Draft, input: FinishInput): Draft {
  const confidence = Math.min(1, Math.max(0, input.historyMillis / input.minHistoryMillis));
  if (confidence === 1) return draft;
  const factor = 1 + (1 - confidence) / 2;
  const value = Math.max(draft.value * factor, input.current.request ?? 0);
  const hours = Math.round(input.historyMillis / 360_000) / 10;
  return amend(
    draft,
    'confidence',
    value,
    `only ${hours} h of history: raised by ${Math.round((factor - 1) * 100)} %, never lowered`,
  );
}

function boundStep(draft: Draft, current: number | undefined, maxStepDown: number): Draft {
  const least = (current ?? 0) * (1 - maxStepDown);
  if (draft.value >= least) return draft;
  return amend(draft, 'step', least, `at most ${Math.round(maxStepDown * 100)} % down at a time`);
}

function round(draft: Draft, multiple: number): Draft {
  // 100 and a tenth are 110.00000000000001; that is no reason for the next multiple.
  const value = Math.ceil(draft.value / multiple - 1e-9) * multiple;
  return value === draft.value ? draft : amend(draft, 'rounding', value, `up to a whole multiple of ${multiple}`);
}

function clamp(draft: Draft, { bounds }: ResourceRules<unknown>): Draft {
  if (draft.value < bounds.min) return amend(draft, 'bounds', bounds.min, `raised to the minimum of ${bounds.min}`);
  if (draft.value > bounds.max) return amend(draft, 'bounds', bounds.max, `held at the maximum of ${bounds.max}`);
  return draft;
}

/** The last stages of a value: how far to go in one step, and whether the change is worth it now. */
import type { EpochMillis } from '../../lib/units.ts';
import { amend, capOf, type HoldReason, type ResourceAdvice } from './advice.ts';
import { type ChangeVerdict, judgeChange } from './change-gate.ts';
import { isTooShort, moveTo, roundUp, type Shaped, type ShapeInput, shape, untilTrusted } from './shape.ts';

/** All stages of one resource on its own, without those that look at the whole pod. */
export function finish(input: ShapeInput): ResourceAdvice {
  return settle(shape(input));
}

/** Step and gate, once all other stages are done with the value. */
export function settle(shaped: Shaped): ResourceAdvice {
  const next = boundStep(shaped);
  const verdict = verdictOn(next);
  const held = verdict.isDue ? undefined : heldBy(shaped, next.value, verdict.held);
  return {
    target: shaped.value,
    request: next.value,
    limit: next.limit,
    targetLimit: shaped.limit,
    isDue: verdict.isDue,
    capped: capOf(shaped.notes),
    held,
    readyAt: held === 'LowConfidence' ? trustedAt(shaped.input) : verdict.readyAt,
    notes: amend(next, 'change', next.value, verdict.text).notes,
  };
}

/** As much of it as is made now; undefined: nothing is, it is held back. */
export function madeNow(shaped: Shaped): Shaped | undefined {
  const next = boundStep(shaped);
  return verdictOn(next).isDue ? next : undefined;
}

function verdictOn({ input, value }: Shaped): ChangeVerdict {
  const { current, rules, now, gainOf } = input;
  const { request, lastChangeAt } = current;
  const gain = request === undefined ? undefined : gainOf?.(value, request);
  return judgeChange({ current: request, advised: value, lastChangeAt, now, gain }, rules.change);
}

/** Why the value stays what it is, where something more telling than "no change" kept it there. */
function heldBy({ input, value }: Shaped, next: number, held: HoldReason | undefined): HoldReason | undefined {
  if (next !== input.current.request) return held;
  if (value !== next && input.safeFloorHold !== undefined) return input.safeFloorHold;
  return isTooShort(input) ? 'LowConfidence' : held;
}

function trustedAt(input: ShapeInput): EpochMillis | undefined {
  const rest = untilTrusted(input);
  return rest === undefined ? undefined : input.now + rest;
}

/**
 * By no more than a share at a time, and no further down than is safe now. What must not be exceeded is left at once.
 */
function boundStep(shaped: Shaped): Shaped {
  const { current, rules, roundTo, safeFloor = 0, safeFloorHold } = shaped.input;
  const { request } = current;
  if (request === undefined || shaped.value === request) return shaped;
  const { maxStepDown, maxStepUp } = rules.change;
  if (shaped.value > request) {
    const most =
      maxStepUp === undefined ? shaped.value : Math.max(rules.bounds.min, roundUp(request * (1 + maxStepUp), roundTo));
    if (shaped.value <= most) return shaped;
    return moveTo(shaped, 'step', most, `at most ${Math.round((maxStepUp ?? 0) * 100)} % up at a time`);
  }
  const byStep = roundUp(request * (1 - maxStepDown), roundTo);
  const least = Math.min(shaped.ceiling, request, Math.max(byStep, roundUp(safeFloor, roundTo)));
  if (shaped.value >= least) return shaped;
  const byFloor =
    safeFloorHold === 'MemoryDecreaseNotAllowed'
      ? 'no further down than it must be: memoryDecrease is Never'
      : `not below the recent peak of ${Math.round(safeFloor)}`;
  const text = safeFloor > byStep ? byFloor : `at most ${Math.round(maxStepDown * 100)} % down at a time`;
  return moveTo(shaped, 'step', least, text);
}

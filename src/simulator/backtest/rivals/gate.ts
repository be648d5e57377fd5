/** The change filter all rivals share: a request moves only when the advice differs by more than a tenth, as VPA's updater has it. */

const MIN_CHANGE = 0.1;

/** @returns `current` itself where the advice is too near to it */
export function gateChange(current: number | undefined, advised: number): number {
  if (current === undefined) return advised;
  return Math.abs(advised - current) > MIN_CHANGE * current ? advised : current;
}

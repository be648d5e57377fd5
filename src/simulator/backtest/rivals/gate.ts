/**
 * The change filter all rivals share: a request moves only when the advice differs by more than a tenth. So VPA's
 * updater has it for pods older than twelve hours (pkg/updater/priority), which pods that are resized in place soon
 * are; where it replaces them, they are young again, and it acts within its bounds twice a day at most (figures of that
 * are in docs/rightsizing-method.md). The others have no filter of their own: without one they would change at every
 * look, and cover no more.
 */

const MIN_CHANGE = 0.1;

/** @returns `current` itself where the advice is too near to it */
export function gateChange(current: number | undefined, advised: number): number {
  if (current === undefined) return advised;
  return Math.abs(advised - current) > MIN_CHANGE * current ? advised : current;
}

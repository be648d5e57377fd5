/** `compat: strict`: how MBCAS went from one limit to the next, slow loop and fast loop. */
import type { Millicores } from '../../../lib/units.ts';

const FLOOR: Millicores = 10;
const CEILING: Millicores = 10_000;
const OF_CAPACITY = 0.75;

export interface StrictSmoothing {
  /** Part of the new value on the way down, and up. */
  readonly down: number;
  readonly up: number;
}

export const strictSmoothing: StrictSmoothing = { down: 0.7, up: 0.1 };

/** The next limit; undefined: the change is below `minChangePercent` and not written. */
export function strictStep(
  current: Millicores,
  target: Millicores,
  capacity: Millicores,
  {
    minChangePercent,
    smoothing = strictSmoothing,
  }: { readonly minChangePercent: number; readonly smoothing?: StrictSmoothing },
): Millicores | undefined {
  const wanted = Math.min(target, CEILING);
  const part = wanted < current ? smoothing.down : smoothing.up;
  const next = Math.max(FLOOR, Math.trunc(part * wanted + (1 - part) * current));
  if ((100 * Math.abs(next - current)) / current < minChangePercent) return undefined;
  return Math.min(next, Math.trunc(OF_CAPACITY * capacity));
}

export function strictRequest(limit: Millicores): Millicores {
  return Math.max(FLOOR, Math.trunc(0.9 * limit));
}

/**
 * The fast loop's answer to throttling. `last`: what it wrote before, undefined at first, when it takes 100m to be what
 * the pod has. `limit`: the present limit, which it takes for the manifest's: a raise can never pass it.
 */
export function strictFastStep(
  last: Millicores | undefined,
  limit: Millicores,
  demand: number,
  capacity: Millicores,
): Millicores {
  const raised = Math.trunc((last ?? 100) * (1 + 0.2 + 0.2 * Math.min(1, demand)));
  return Math.min(raised, limit, capacity);
}

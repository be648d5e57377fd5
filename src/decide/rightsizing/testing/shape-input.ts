/** What is asked of a stage that shapes a value, made for tests. */
import { defaultPolicy } from '../policy.ts';
import type { ShapeInput } from '../shape.ts';
import { DAY, unset } from './profiles.ts';

/** A target of 100 with a whole history behind it, of what has no size yet. */
export function aShapeInput(changes: Partial<ShapeInput> = {}): ShapeInput {
  return {
    draft: { value: 100, notes: [] },
    current: unset,
    rules: { ...defaultPolicy.cpu, bounds: { min: 1, max: 100_000 } },
    historyMillis: DAY,
    minHistoryMillis: DAY,
    roundTo: 1,
    leastLimit: 0,
    now: 0,
    gainOf: undefined,
    ...changes,
  };
}

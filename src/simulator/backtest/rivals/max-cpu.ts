/** The careful operator: the highest usage of the last 7 days, and 15 % on top. */
import type { Strategy } from '../strategy.ts';
import { gateChange } from './gate.ts';
import { createSampleWindow } from './sample-window.ts';

const WINDOW = 7 * 86_400_000;
const MARGIN = 1.15;

export function createMaxCpu(): Strategy {
  const window = createSampleWindow(WINDOW);
  return {
    observe: (usage, at) => window.add(usage, at),
    choose: (current) => gateChange(current, Math.max(1, Math.ceil(window.max() * MARGIN))),
  };
}

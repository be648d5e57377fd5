/** KRR's simple strategy for memory: the highest use of the last 14 days, and 15 % on top, at least 100 MiB; kills are not counted. */
import type { Bytes, Millis } from '../../../lib/units.ts';
import type { MemoryStrategy } from '../replay-memory.ts';
import { gateChange } from './gate.ts';

const WINDOW: Millis = 14 * 86_400_000;
/** Peaks are kept by the hour: the window is that much coarser. */
const HOUR: Millis = 3_600_000;
const MARGIN = 1.15;
const FLOOR: Bytes = 100 * 1024 * 1024;

export function createKrrMemory(): MemoryStrategy {
  const peaks = new Map<number, Bytes>();
  return {
    observe(_replica, usage, at) {
      const hour = Math.floor(at / HOUR);
      const known = peaks.get(hour);
      peaks.set(hour, Math.max(usage, known ?? 0));
      if (known !== undefined) return;
      for (const old of peaks.keys()) if ((hour - old) * HOUR >= WINDOW) peaks.delete(old);
    },
    noteOom() {},
    choose: (current) => gateChange(current, Math.max(FLOOR, Math.ceil(Math.max(0, ...peaks.values()) * MARGIN))),
  };
}

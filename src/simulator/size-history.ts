/** How often amounts turned, and how often things happened, within a sliding time. */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { describeStep, type SizeStep } from './container-sizes.ts';
import type { Ledger } from './ledger.ts';

/** By keys of the caller; what is older than its time is forgotten when the key is next used. */
export interface SizeHistory {
  /** Notes a step; turns of its direction within the last hour, this one included. */
  note(key: string, step: { readonly from: number | undefined; readonly to: number | undefined }): number;
  /** Notes that something happened; how often it has within the last minute, this time included. */
  count(key: string): number;
}

const HOUR: Millis = 3_600_000;
const MINUTE: Millis = 60_000;
/** Turns of direction within an hour: up, down and up again are two. */
const MAX_SWINGS = 6;

export function createSizeHistory(clock: Clock): SizeHistory {
  const directions = new Map<string, { isUp: boolean; turns: EpochMillis[] }>();
  const times = new Map<string, EpochMillis[]>();
  return {
    note(key, { from, to }) {
      const isUp = (to ?? Number.POSITIVE_INFINITY) > (from ?? Number.POSITIVE_INFINITY);
      const known = directions.get(key);
      if (known === undefined) {
        directions.set(key, { isUp, turns: [] });
        return 0;
      }
      known.turns = known.turns.filter((at) => clock.now() - at < HOUR);
      if (known.isUp !== isUp) known.turns.push(clock.now());
      known.isUp = isUp;
      return known.turns.length;
    },
    count(key) {
      const recent = (times.get(key) ?? []).filter((at) => clock.now() - at < MINUTE);
      recent.push(clock.now());
      times.set(key, recent);
      return recent.length;
    },
  };
}

/** Notes a step of a container, and holds it to the invariant that amounts do not swing. @param uid of its pod or template, in the history */
export function checkSteady(
  { check }: Ledger,
  history: SizeHistory,
  { uid, name, step }: { readonly uid: string; readonly name: string; readonly step: SizeStep },
): void {
  const { container, key } = step;
  const swings = history.note(`${uid} ${container.name} ${key}`, step);
  const told = (): string => `${name} ${container.name}: ${describeStep(step)}, ${swings} turns within an hour`;
  check('steady', swings <= MAX_SWINGS, told);
}

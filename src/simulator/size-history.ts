/** How often amounts turned, and how often things happened, within a sliding time. */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { describeStep, type SizeStep } from './container-sizes.ts';
import type { Ledger } from './ledger.ts';

/** By uid of a pod or workload. */
export interface SizeHistory {
  /** Notes a step of one of its amounts; turns of its direction within the last hour, this one included. */
  note(
    uid: string,
    amount: string,
    step: { readonly from: number | undefined; readonly to: number | undefined },
  ): number;
  /** Notes that something happened to it; how often it has within the last minute, this time included. */
  count(uid: string): number;
  /** It is gone: in runs of weeks pods come and go by the hundred thousand. */
  forget(uid: string): void;
}

const HOUR: Millis = 3_600_000;
const MINUTE: Millis = 60_000;
/** Turns of direction within an hour: up, down and up again are two. */
const MAX_SWINGS = 6;

export function createSizeHistory(clock: Clock): SizeHistory {
  const directions = new Map<string, Map<string, { isUp: boolean; turns: EpochMillis[] }>>();
  const times = new Map<string, EpochMillis[]>();
  return {
    note(uid, amount, { from, to }) {
      const isUp = (to ?? Number.POSITIVE_INFINITY) > (from ?? Number.POSITIVE_INFINITY);
      const own = directions.get(uid) ?? new Map<string, { isUp: boolean; turns: EpochMillis[] }>();
      directions.set(uid, own);
      const known = own.get(amount);
      if (known === undefined) {
        own.set(amount, { isUp, turns: [] });
        return 0;
      }
      known.turns = known.turns.filter((at) => clock.now() - at < HOUR);
      if (known.isUp !== isUp) known.turns.push(clock.now());
      known.isUp = isUp;
      return known.turns.length;
    },
    count(uid) {
      const recent = (times.get(uid) ?? []).filter((at) => clock.now() - at < MINUTE);
      recent.push(clock.now());
      times.set(uid, recent);
      return recent.length;
    },
    forget(uid) {
      directions.delete(uid);
      times.delete(uid);
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
  const swings = history.note(uid, `${container.name} ${key}`, step);
  const told = (): string => `${name} ${container.name}: ${describeStep(step)}, ${swings} turns within an hour`;
  check('steady', swings <= MAX_SWINGS, told);
}

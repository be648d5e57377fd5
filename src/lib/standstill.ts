/** Notices that virtual time stands still: work at one instant that brings about more of it, without end. */
import { StowageError } from './errors.ts';
import type { EpochMillis } from './units.ts';
import { isoText } from './utc-text.ts';

/** Time cannot move on; the message names the work that keeps it. */
export class StandstillError extends StowageError {
  override readonly name = 'StandstillError';

  /** @param what keeps it: a clause. */
  constructor(at: EpochMillis, what: string) {
    super('TIME_STANDS_STILL', `Simulated time stands still at ${isoText(at)}: ${what}.`);
  }
}

/** Counts what happens at one instant: timers that start each other, and looks at the clock. */
export interface InstantWatch {
  /** A timer fires, of this chain; 0 also where time is told to move. */
  begin(chain: number): void;
  /** How many timers in a row a timer is the last of, each started by the one before it to fire in the same millisecond. */
  chainOf(now: EpochMillis, due: EpochMillis): number;
  /** @throws StandstillError for what looks at the clock without end: code that waits for nothing cannot be left otherwise. */
  read(now: EpochMillis): void;
  /** Undefined while all is well. */
  standstill(now: EpochMillis): StandstillError | undefined;
}

export interface InstantLimits {
  readonly chained: number;
  /** Between one timer and the next. */
  readonly reads: number;
}

/**
 * Queues let others run after each key, by a timer without delay: tens of thousands of keys are no loop. Nor is it one when some
 * thousand pods are looked at a few times each.
 */
const LIMITS: InstantLimits = { chained: 200_000, reads: 20_000_000 };
/** The last ones of a chain are asked where they come from. */
const SAMPLES = 100;

export function createInstantWatch(limits = LIMITS): InstantWatch {
  let chain = 0;
  let reads = 0;
  let found: StandstillError | undefined;
  const places = new Map<string, number>();
  const note = (place: string): void => void places.set(place, (places.get(place) ?? 0) + 1);
  return {
    begin(next) {
      chain = next;
      reads = 0;
    },
    chainOf(now, due) {
      if (Math.floor(due) > Math.floor(now)) return 0;
      const next = chain + 1;
      if (next > limits.chained - SAMPLES) note(callerIn(new Error('place').stack));
      return next;
    },
    read(now) {
      if (++reads <= limits.reads) return;
      found ??= new StandstillError(now, `the clock is asked without end by ${callerIn(new Error('place').stack)}`);
      throw found;
    },
    standstill(now) {
      if (chain > limits.chained)
        found ??= new StandstillError(now, `timers without delay start each other without end, by ${mostOf(places)}`);
      return found;
    },
  };
}

/** Lines of a stack between whoever works without end and the one who counts. */
const BETWEEN =
  /\/(?:standstill|virtual-clock|skewed-clock|clock|call-watch|watched-api)\.ts:|\/cluster\/(?:apiserver|faults)\/|\(<anonymous>\)|node:/;
const PLACES_TOLD = 3;

/** The innermost functions outside of clocks and the embedded API server, with their files and lines. */
export function callerIn(stack = ''): string {
  const frames = stack
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at ') && !BETWEEN.test(line))
    .map((line) =>
      line
        .trim()
        .replace(/^at (?:async )?/, '')
        .replace(/(?:file:\/\/)?[^\s(]*\/src\//, 'src/'),
    );
  return frames.slice(0, PLACES_TOLD).join(' < ') || 'code that cannot be told';
}

function mostOf(places: ReadonlyMap<string, number>): string {
  const [most] = [...places].sort(([, left], [, right]) => right - left);
  return most?.[0] ?? 'code that cannot be told';
}

/** Whether a reflector's copy is of now: after a break, only once the watch that came back has brought what was missed. */
import type { Clock, Timer } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { ReflectorSink } from './reflector-events.ts';

/** For one reflector; tells its sink. */
export interface WatchRecovery {
  /** The connection broke, and what was missed may not all be here. */
  isBehind(): boolean;
  /** @returns whether that is news: an outage may last for hours, and on every node, so each cause is told once. */
  broke(error: unknown): boolean;
  /** A watch stands where the last one ended. */
  resumed(): void;
  /** It ended. */
  ended(): void;
  /** Everything was listed. */
  listed(): void;
}

/**
 * A watch that comes back after a break brings first what was missed, one event after the other, with no mark of its
 * end. Until it has stood for this long, what is known may still be from before the break.
 */
const CATCH_UP_MILLIS = 1_000;

export function createWatchRecovery(clock: Clock, sink: Pick<ReflectorSink<unknown>, 'onState'>): WatchRecovery {
  /** What was told of it last; undefined while nothing is missing. */
  let trouble: string | undefined;
  let catchUp: Timer | undefined;
  const ended = (): void => {
    catchUp?.cancel();
    catchUp = undefined;
  };
  const listed = (): void => {
    trouble = undefined;
    sink.onState('fresh');
  };
  return {
    isBehind: () => trouble !== undefined,
    broke(error) {
      const told = describeError(error);
      const isNews = told !== trouble;
      trouble = told;
      sink.onState('stale', error);
      return isNews;
    },
    resumed() {
      if (trouble === undefined) sink.onState('fresh');
      else catchUp ??= clock.setTimer(CATCH_UP_MILLIS, listed);
    },
    ended,
    listed,
  };
}

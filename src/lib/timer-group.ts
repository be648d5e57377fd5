/** Timers that end together, with what they were set for. */
import type { Clock, Timer } from './clock.ts';

export interface TimerGroup {
  /** As {@link Clock.setTimer}, while the group has not ended; from then on `action` is never called. */
  after(delayMillis: number, action: () => void): Timer;
  /** Nothing that was set before is called any more. */
  end(): void;
}

const NEVER: Timer = { cancel() {} };

export function createTimerGroup(clock: Pick<Clock, 'setTimer'>): TimerGroup {
  const timers = new Set<Timer>();
  let hasEnded = false;
  return {
    after(delayMillis, action) {
      if (hasEnded) return NEVER;
      const timer = clock.setTimer(delayMillis, () => {
        timers.delete(timer);
        action();
      });
      timers.add(timer);
      return timer;
    },
    end() {
      hasEnded = true;
      for (const timer of timers) timer.cancel();
      timers.clear();
    },
  };
}

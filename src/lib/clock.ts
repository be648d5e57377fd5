/**
 * Time as a dependency. Nothing in Stowage reads the wall clock or starts a timer except through a {@link Clock},
 * so the same code runs in real time, in tests and in the simulator's virtual time.
 */

/** A started timer. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void;
}

/**
 * The wall clock may be set, forwards and backwards; its timers go on regardless. What must not depend on that is
 * measured by timers, or by {@link createMonotonicTime}.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch (UTC). */
  now(): number;
  /**
   * Calls `callback` once, not before `delayMillis` have passed; zero and negative delays mean "as soon as possible".
   */
  setTimer(delayMillis: number, callback: () => void): Timer;
}

/** Longest delay Node's own timers take (2^31 - 1 ms); longer ones would fire at once. */
const MAX_NODE_DELAY_MILLIS = 2_147_483_647;

class ShortTimer implements Timer {
  readonly #handle: NodeJS.Timeout;

  constructor(handle: NodeJS.Timeout) {
    this.#handle = handle;
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }
}

/** The machine's clock. Its timers keep the process alive; whoever starts one must cancel it to stop cleanly. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    setTimer(delayMillis, callback) {
      // Thousands wait at a time: the usual one holds its callback and nothing else.
      if (delayMillis <= MAX_NODE_DELAY_MILLIS) return new ShortTimer(setTimeout(callback, Math.max(0, delayMillis)));
      let handle: NodeJS.Timeout;
      const arm = (remainingMillis: number): void => {
        const step = Math.min(Math.max(0, remainingMillis), MAX_NODE_DELAY_MILLIS);
        handle = setTimeout(() => (remainingMillis > step ? arm(remainingMillis - step) : callback()), step);
      };
      arm(delayMillis);
      return { cancel: () => clearTimeout(handle) };
    },
  };
}

/**
 * Milliseconds of CLOCK_MONOTONIC, the same for all processes of a machine, never set and never turned back: for rates
 * and ages, where {@link Clock.now} may jump.
 */
export function createMonotonicTime(): () => number {
  return () => Number(process.hrtime.bigint()) / 1e6;
}

/** Resolves after `delayMillis` on `clock`; rejects with the signal's reason as soon as `signal` aborts. */
export function sleep(clock: Clock, delayMillis: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.setTimer(delayMillis, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The same for loops that look at the signal themselves: an abort ends the pause, and is no error. */
export function pause(clock: Clock, delayMillis: number, signal: AbortSignal): Promise<void> {
  return sleep(clock, delayMillis, signal).catch(() => {});
}

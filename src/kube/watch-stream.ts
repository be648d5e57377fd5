/**
 * One watch, read event by event under a deadline of its own, so that a silent server is noticed whatever the
 * transport.
 */
import type { KubeObject } from '../api/core.ts';
import type { WatchEvent } from '../api/kube-api.ts';
import type { Clock } from '../lib/clock.ts';

/** The watch brought nothing before its deadline: the server or the network is frozen. */
export class WatchDeadlineError extends Error {
  override readonly name = 'WatchDeadlineError';
  readonly code = 'KUBE_WATCH_DEADLINE';

  constructor(deadlineMillis: number) {
    super(
      `The watch did not end or answer within ${Math.round(deadlineMillis / 1000)} s; the server or the network is frozen, or a proxy in between keeps answers back.`,
    );
  }
}

/** For one reader; must be closed, however the reading ends. */
export interface WatchStream<T> {
  /**
   * The next event; undefined when the server ended the stream normally. Rejects with WatchDeadlineError or the
   * transport's error.
   */
  next(): Promise<WatchEvent<T> | undefined>;
  /** Replaces the deadline: from now, `millis` more. */
  extend(millis: number): void;
  /** Ends the watch on the wire too. Safe to call twice. */
  close(): void;
}

/**
 * @param open starts the watch; its signal aborts when the deadline passes, on close, or with `signal`.
 * @param deadlineMillis how long the whole stream may take, counted from now, unless extended.
 */
export function openWatchStream<T extends KubeObject>(
  open: (signal: AbortSignal) => AsyncIterable<WatchEvent<T>>,
  clock: Clock,
  deadlineMillis: number,
  signal: AbortSignal,
): WatchStream<T> {
  const controller = new AbortController();
  const iterator = open(controller.signal)[Symbol.asyncIterator]();
  // At most one next() is outstanding; failing it by hand frees the reader even where the iterator ignores its signal.
  let fail: ((reason: unknown) => void) | undefined;
  let isClosed = false;
  let allowedMillis = deadlineMillis;
  let dueMillis = clock.now() + deadlineMillis;
  // Extending only moves `dueMillis`; the timer re-arms itself when it fires early. One timer for 10,000 extensions.
  const onTimer = (): void => {
    // A clock set back meanwhile must not let a frozen watch pass for a live one until it has caught up.
    dueMillis = Math.min(dueMillis, clock.now() + allowedMillis);
    const remaining = dueMillis - clock.now();
    if (remaining > 0) timer = clock.setTimer(remaining, onTimer);
    else close(new WatchDeadlineError(allowedMillis));
  };
  let timer = clock.setTimer(deadlineMillis, onTimer);

  /** Whoever waits for the next event is told the reason. */
  const close = (reason: unknown): void => {
    if (isClosed) return;
    isClosed = true;
    timer.cancel();
    signal.removeEventListener('abort', onAbort);
    fail?.(reason);
    controller.abort(reason);
    // Not awaited: a generator stuck in a frozen read would never return.
    iterator.return?.().catch(() => {});
  };
  const onAbort = (): void => close(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();

  return {
    next: () =>
      new Promise((resolve, reject) => {
        if (isClosed) {
          reject(controller.signal.reason);
          return;
        }
        fail = reject;
        iterator.next().then((result) => resolve(result.done === true ? undefined : result.value), reject);
      }),
    extend(millis) {
      if (isClosed) return;
      allowedMillis = millis;
      const isSooner = clock.now() + millis < dueMillis;
      dueMillis = clock.now() + millis;
      if (!isSooner) return;
      timer.cancel();
      timer = clock.setTimer(millis, onTimer);
    },
    close: () => close(new Error('The watch was closed.')),
  };
}

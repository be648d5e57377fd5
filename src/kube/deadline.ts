/** A signal that aborts with the caller's, or by itself after a time. */
import type { Clock } from '../lib/clock.ts';
import { StowageError } from '../lib/errors.ts';

/** The API server did not answer in time. Whether it acted on the request is unknown. */
export class RequestTimeoutError extends StowageError {
  override readonly name = 'RequestTimeoutError';

  constructor(what: string, millis: number) {
    super('KUBE_REQUEST_TIMEOUT', `${what}: no complete answer of the API server within ${millis / 1000} s.`);
  }
}

/** Must be ended: see {@link startDeadline}. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Must be called when the work is done, or the timer and the listener stay. */
  end(): void;
}

/** @param millis undefined: no time limit, only the caller's signal. */
export function startDeadline(clock: Clock, millis: number | undefined, what: string, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(outer?.reason);
  const timer =
    millis === undefined
      ? undefined
      : clock.setTimer(millis, () => controller.abort(new RequestTimeoutError(what, millis)));
  outer?.addEventListener('abort', onAbort, { once: true });
  if (outer?.aborted) onAbort();
  return {
    signal: controller.signal,
    end() {
      timer?.cancel();
      outer?.removeEventListener('abort', onAbort);
    },
  };
}

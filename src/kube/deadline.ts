/** A signal that aborts with the caller's, or by itself after a time. */
import type { Clock, Timer } from '../lib/clock.ts';
import { StowageError } from '../lib/errors.ts';

/** The API server did not answer in time. Whether it acted on the request is unknown. */
export class RequestTimeoutError extends StowageError {
  override readonly name = 'RequestTimeoutError';

  /** @param hasBegun a part of the answer came before, and then nothing for so long. */
  constructor(what: string, millis: number, hasBegun = false) {
    const trouble = hasBegun
      ? 'the answer of the API server broke off, nothing came for'
      : 'no complete answer of the API server within';
    super('KUBE_REQUEST_TIMEOUT', `${what}: ${trouble} ${millis / 1000} s.`);
  }
}

/** Must be ended: see {@link startDeadline}. */
export interface Deadline {
  readonly signal: AbortSignal;
  /**
   * A part of the answer has come: from then on there is as much time again, twice as much at most. Costs next to
   * nothing, as there are thousands of parts.
   */
  prolong(): void;
  /** Must be called when the work is done, or the timer and the listener stay. */
  end(): void;
}

/** @param millis undefined: no time limit, only the caller's signal. */
export function startDeadline(clock: Clock, millis: number | undefined, what: string, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(outer?.reason);
  let hasProgress = false;
  const start = (limit: number, hasBegun: boolean): Timer =>
    clock.setTimer(limit, () => {
      if (hasProgress) timer = start(limit, true);
      else controller.abort(new RequestTimeoutError(what, limit, hasBegun));
      hasProgress = false;
    });
  let timer = millis === undefined ? undefined : start(millis, false);
  outer?.addEventListener('abort', onAbort, { once: true });
  if (outer?.aborted) onAbort();
  return {
    signal: controller.signal,
    prolong() {
      hasProgress = true;
    },
    end() {
      timer?.cancel();
      outer?.removeEventListener('abort', onAbort);
    },
  };
}

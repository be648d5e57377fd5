/** A counted permit whose size may change while in use: the streams an HTTP/2 peer allows. */

export interface Semaphore {
  readonly inUse: number;
  readonly waiting: number;
  readonly limit: number;
  /** Takes a permit, waiting for one in order of arrival. Resolves to the function that gives it back (once). */
  acquire(signal: AbortSignal): Promise<() => void>;
  /** Takes effect at once upwards; downwards as permits come back. */
  setLimit(limit: number): void;
  /** Rejects all who wait, and all who come later. */
  fail(reason: unknown): void;
}

interface Waiter {
  readonly resolve: (release: () => void) => void;
  readonly reject: (reason: unknown) => void;
}

/** First come, first served; whoever gives up leaves the line. */
export function createSemaphore(initialLimit: number): Semaphore {
  let limit = initialLimit;
  let inUse = 0;
  let failure: { readonly reason: unknown } | undefined;
  const queue = new Set<Waiter>();

  const grant = (): (() => void) => {
    inUse++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      inUse--;
      serve();
    };
  };
  const serve = (): void => {
    for (const waiter of queue) {
      if (inUse >= limit) return;
      queue.delete(waiter);
      waiter.resolve(grant());
    }
  };

  return {
    get inUse() {
      return inUse;
    },
    get waiting() {
      return queue.size;
    },
    get limit() {
      return limit;
    },
    acquire(signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (failure !== undefined) return Promise.reject(failure.reason);
      if (inUse < limit && queue.size === 0) return Promise.resolve(grant());
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          queue.delete(waiter);
          reject(signal.reason);
        };
        const waiter: Waiter = {
          resolve: (release) => {
            signal.removeEventListener('abort', onAbort);
            resolve(release);
          },
          reject: (reason) => {
            signal.removeEventListener('abort', onAbort);
            reject(reason);
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        queue.add(waiter);
      });
    },
    setLimit(next) {
      limit = next;
      serve();
    },
    fail(reason) {
      failure = { reason };
      for (const waiter of queue) waiter.reject(reason);
      queue.clear();
    },
  };
}

/** Client-side limit of requests a second, with a reserve that only control traffic may use. */
import type { Clock, Timer } from '../lib/clock.ts';
import { createTokenBucket } from './token-bucket.ts';
import type { Lane } from './transport/transport.ts';

/** A token bucket: `burst` at once, `qps` refilled a second. */
export interface RateLimits {
  /** Requests a second over time. Above 0. Default 50. */
  readonly qps: number;
  /** Requests that may go at once after a quiet time. At least 1, above `reserve`. Default 100. */
  readonly burst: number;
  /**
   * Of the burst, this many are kept for control requests: leases are renewed even while bulk traffic waits. Default
   * 10.
   */
  readonly reserve: number;
}

/** A lane of the transport, or ahead of both: renewals of leases, which run out while others stand in line. */
export type Line = Lane | 'lease';

export interface RateLimiter {
  /** Resolves when the request may go; first come, first served within a line, leases before control before bulk. */
  acquire(line: Line, signal: AbortSignal): Promise<void>;
  readonly waiting: number;
}

/** Above client-go's 5 and 10: there the default is for tools, and the API server has priority and fairness since. */
export const defaultRateLimits: RateLimits = { qps: 50, burst: 100, reserve: 10 };

/** In the order in which they are served. */
const lines: readonly Line[] = ['lease', 'control', 'bulk'];

/** @throws RangeError for limits that could never let a request through. */
export function createRateLimiter(limits: RateLimits, clock: Clock): RateLimiter {
  const { qps, burst, reserve } = limits;
  if (!(qps > 0) || !(burst >= 1) || !(reserve >= 0) || reserve >= burst) {
    throw new RangeError(
      `Rate limits need qps > 0, burst >= 1 and 0 <= reserve < burst, got ${JSON.stringify(limits)}.`,
    );
  }
  const bucket = createTokenBucket(qps, burst, clock);
  let timer: Timer | undefined;
  const queues: Record<Line, Set<() => void>> = { lease: new Set(), control: new Set(), bulk: new Set() };
  /** Tokens that must be there for the line's next request. */
  const needed: Record<Line, number> = { lease: 1, control: 1, bulk: 1 + reserve };

  const take = (line: Line): boolean => {
    // Refills are sums of fractions; without the margin a token could be missing by a rounding error for ever.
    if (bucket.tokens() < needed[line] - 1e-9) return false;
    bucket.take();
    return true;
  };
  const next = (): Line | undefined => lines.find((line) => queues[line].size > 0);
  /** Lets go all that may, in order; a timer takes care of the first that may not. */
  const serve = (): void => {
    timer?.cancel();
    timer = undefined;
    for (let line = next(); line !== undefined; line = next()) {
      if (!take(line)) {
        timer = clock.setTimer(Math.max(1, bucket.millisUntil(needed[line])), serve);
        return;
      }
      const [admit] = queues[line];
      if (admit === undefined) return;
      queues[line].delete(admit);
      admit();
    }
  };

  return {
    get waiting() {
      return queues.lease.size + queues.control.size + queues.bulk.size;
    },
    acquire(line, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const isFirst = queues[line].size === 0;
      if (isFirst && take(line)) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const admit = (): void => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        };
        const onAbort = (): void => {
          queues[line].delete(admit);
          reject(signal.reason);
          serve();
        };
        signal.addEventListener('abort', onAbort, { once: true });
        queues[line].add(admit);
        serve();
      });
    },
  };
}

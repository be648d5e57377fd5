/** How an operator ends: first what decides and acts, then what that stands on (caches, events), last the ports. */
import type { LeadingEnd } from '../kube/leader.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Millis } from '../lib/units.ts';
import { watchClock } from './clock-watch.ts';
import { unaskedEnd } from './leadership.ts';

export interface LifetimeOptions {
  /** Aborted when the end begins, by whatever it was brought about. */
  readonly stopping: AbortController;
  /** Runs until `signal` aborts, or ends by itself. */
  readonly act: (signal: AbortSignal) => Promise<LeadingEnd>;
  /** Runs until `signal` aborts, which is after all has ended that acts. */
  readonly stand: (signal: AbortSignal) => Promise<unknown>;
  /** Answers what was asked already, while those that act end. */
  readonly drain: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly clock: Clock;
  /** See {@link watchClock}. */
  readonly monotonic?: (() => Millis) | undefined;
  readonly log: Logger;
}

/** Of a process that runs already. */
export interface Lifetime {
  /** Resolves after {@link stop}; rejects when the operator cannot go on: the lease is lost, or the clock was set. */
  readonly ended: Promise<void>;
  /** Readiness off, webhook drained, controllers and caches ended, lease released. Safe to call twice. */
  stop(): Promise<void>;
}

export function startLifetime(options: LifetimeOptions): Lifetime {
  const { stopping, clock, monotonic, log } = options;
  const winding = new AbortController();
  const acting = options.act(stopping.signal);
  const standing = options.stand(winding.signal);

  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      stopping.abort(new Error('The operator is stopping.'));
      await Promise.all([options.drain(), acting]);
      winding.abort(new Error('The operator is stopping.'));
      await standing;
      await options.close();
      log.info({}, 'Stopped');
    })();
    return stopped;
  };
  const ended = Promise.race([acting, watchClock(clock, stopping.signal, monotonic)]).then(async (how) => {
    const error = how === 'stopped' ? undefined : unaskedEnd(how);
    // At once: stopping takes seconds, and who reads the log wants to know why.
    if (error !== undefined) log.error({ error }, 'The operator ends by itself');
    await stop();
    if (error !== undefined) throw error;
  });
  ended.catch(() => {});
  return { ended, stop };
}

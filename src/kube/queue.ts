/**
 * A keyed work queue: a key is handled by one worker at a time, never twice for one change, and never lost while it
 * runs.
 */
import { type BackoffPolicy, backoffDelay, backoffPolicies } from '../lib/backoff.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { EpochMillis } from '../lib/units.ts';
import { createReadyKeys, type Ready, type Taken } from './ready-keys.ts';
import { createTokenBucket } from './token-bucket.ts';

export interface AddOptions {
  /** Higher runs first; equal ones first come, first served. Default 0. */
  readonly priority?: number;
}

/**
 * What a handler's end means. Nothing: done, earlier failures are forgotten. `{ requeueAfterMillis }`: done, look again
 * then, though not at once: who is due again each time it is asked would keep the process busy. Rejection: failed, tried
 * again with the key's backoff.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers are mostly async functions without a return
export type HandlerResult = void | { readonly requeueAfterMillis: number };

/** @param signal aborts when the queue stops: work should then end soon, as the queue waits for it. */
export type KeyHandler = (key: string, signal: AbortSignal) => Promise<HandlerResult>;

/** Handlers must be level-based: several adds of a key may come to one call, and nothing tells what was added. */
export interface WorkQueue {
  /** Keys ready to be taken. */
  readonly size: number;
  /** Keys waiting for their time. */
  readonly delayed: number;
  readonly processing: number;
  add(key: string, options?: AddOptions): void;
  /** Adds after `delayMillis`; when the key already waits, the earlier time wins. */
  addAfter(key: string, delayMillis: number, options?: AddOptions): void;
  /** Adds after the key's backoff and the overall rate, counting one more failure of the key. */
  addRateLimited(key: string, options?: AddOptions): void;
  /** Resets the key's failure count. */
  forget(key: string): void;
  failures(key: string): number;
  /** When the key that has failed longest, and never succeeded since, failed first; undefined: none. */
  failingSince(): EpochMillis | undefined;
  /**
   * Runs `handler` on up to `workers` keys at a time until `signal` aborts; then takes no more keys, waits for the
   * running handlers and resolves. Keys that still wait for their time are forgotten, as handlers look at everything
   * when they start again.
   */
  run(workers: number, handler: KeyHandler, signal: AbortSignal): Promise<void>;
}

/** Told at once, for metrics. As client-go counts (util/workqueue/metrics.go), but for retries. */
export interface QueueObserver {
  /**
   * A key is to be handled once more: now ready, or as soon as its worker is done. Adds of one that is already are
   * none.
   */
  added(): void;
  /** A worker has taken a key. @param waitedMillis since it was added, the rest of its work before included. */
  taken(waitedMillis: number): void;
  /** The key that was taken is done, or has failed. */
  handled(workMillis: number): void;
  /** A key is to be added again because it failed. client-go counts keys to be looked at again later, too. */
  retried(): void;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** For log lines and metrics. */
  readonly name: string;
  /** Delays between the retries of one failing key. Default: 5 ms, doubling to 1,000 s. */
  readonly retryPolicy?: BackoffPolicy;
  readonly observer?: QueueObserver;
}

interface Waiting {
  readonly dueMillis: number;
  readonly priority: number;
  readonly timer: Timer;
}

/** Over all keys. */
const RETRIES_PER_SECOND = 10;
/** Retries that may happen at once before the rate applies. */
const RETRY_BURST = 100;
const LEAST_REQUEUE_MILLIS = 100;

/** Numbers are client-go's (util/workqueue/default_rate_limiters.go). */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock, random, log, name, observer } = options;
  const { retryPolicy = backoffPolicies.queueItem } = options;
  const ready = createReadyKeys();
  const waiting = new Map<string, Waiting>();
  const processing = new Set<string>();
  /** Keys added again while a worker holds them: run once more as soon as it is done. */
  const dirty = new Map<string, Ready>();
  const failures = new Map<string, { readonly count: number; readonly sinceMillis: EpochMillis }>();
  /** Told when a key becomes ready or a worker free. */
  let wake: (() => void) | undefined;
  const retries = createTokenBucket(RETRIES_PER_SECOND, RETRY_BURST, clock);

  const enqueue = (key: string, wanted: Ready): void => {
    if (ready.put(key, wanted)) wake?.();
  };

  const add = (key: string, { priority = 0 }: AddOptions = {}): void => {
    const known = ready.get(key) ?? dirty.get(key);
    if (known === undefined) observer?.added();
    const wanted = {
      priority: Math.max(priority, known?.priority ?? priority),
      sinceMillis: known?.sinceMillis ?? clock.now(),
    };
    if (processing.has(key)) dirty.set(key, wanted);
    else enqueue(key, wanted);
  };

  const addAfter = (key: string, delayMillis: number, { priority = 0 }: AddOptions = {}): void => {
    if (delayMillis <= 0) {
      add(key, { priority });
      return;
    }
    const dueMillis = clock.now() + delayMillis;
    const known = waiting.get(key);
    const highest = Math.max(priority, known?.priority ?? priority);
    if (known !== undefined && known.dueMillis <= dueMillis && known.priority >= priority) return;
    known?.timer.cancel();
    const earliest = Math.min(dueMillis, known?.dueMillis ?? dueMillis);
    const timer = clock.setTimer(earliest - clock.now(), () => {
      waiting.delete(key);
      add(key, { priority: highest });
    });
    waiting.set(key, { dueMillis: earliest, priority: highest, timer });
  };

  const addRateLimited = (key: string, addOptions?: AddOptions): void => {
    const known = failures.get(key);
    const count = (known?.count ?? 0) + 1;
    failures.set(key, { count, sinceMillis: known?.sinceMillis ?? clock.now() });
    observer?.retried();
    retries.take();
    addAfter(key, Math.max(backoffDelay(retryPolicy, count, random), retries.millisUntil(0)), addOptions);
  };

  /** Never rejects, whatever the handler does. */
  const process = async (taken: Taken, handler: KeyHandler, signal: AbortSignal): Promise<void> => {
    const { key, sinceMillis } = taken;
    processing.add(key);
    const startedMillis = clock.now();
    observer?.taken(startedMillis - sinceMillis);
    try {
      const result = await handler(key, signal);
      failures.delete(key);
      if (result !== undefined) addAfter(key, Math.max(LEAST_REQUEUE_MILLIS, result.requeueAfterMillis));
    } catch (error) {
      if (!signal.aborted) {
        log.warn(
          { queue: name, key, failures: (failures.get(key)?.count ?? 0) + 1, error },
          'Work on a key failed; it will be tried again',
        );
        addRateLimited(key);
      }
    } finally {
      processing.delete(key);
      const again = dirty.get(key);
      dirty.delete(key);
      if (again !== undefined) enqueue(key, again);
      observer?.handled(clock.now() - startedMillis);
    }
  };

  const worker = async (handler: KeyHandler, signal: AbortSignal, idle: (() => void)[]): Promise<void> => {
    while (!signal.aborted) {
      const next = ready.take();
      if (next !== undefined) await process(next, handler, signal);
      else await new Promise<void>((resolve) => idle.push(resolve));
    }
  };

  return {
    get size() {
      return ready.size;
    },
    get delayed() {
      return waiting.size;
    },
    get processing() {
      return processing.size;
    },
    add,
    addAfter,
    addRateLimited,
    forget: (key) => {
      failures.delete(key);
    },
    failures: (key) => failures.get(key)?.count ?? 0,
    failingSince() {
      let oldest: EpochMillis | undefined;
      for (const { sinceMillis } of failures.values()) oldest = Math.min(oldest ?? sinceMillis, sinceMillis);
      return oldest;
    },
    async run(workers, handler, signal) {
      if (!Number.isInteger(workers) || workers < 1)
        throw new RangeError(`Queue ${name} needs at least 1 worker, got ${workers}.`);
      if (wake !== undefined) throw new Error(`Queue ${name} is running already.`);
      const idle: (() => void)[] = [];
      wake = () => idle.shift()?.();
      const wakeAll = (): void => {
        for (const resolve of idle.splice(0)) resolve();
      };
      signal.addEventListener('abort', wakeAll, { once: true });
      try {
        await Promise.all(Array.from({ length: workers }, () => worker(handler, signal, idle)));
      } finally {
        wake = undefined;
        signal.removeEventListener('abort', wakeAll);
        for (const { timer } of waiting.values()) timer.cancel();
        waiting.clear();
      }
    },
  };
}

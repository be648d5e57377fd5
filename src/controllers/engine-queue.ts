/** The queue of an engine's loop: it is there while the engine leads, and Prometheus is told how it does. */
import { createWorkQueue, type KeyHandler, type QueueObserver } from '../kube/queue.ts';
import type { BackoffPolicy } from '../lib/backoff.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Random } from '../lib/random.ts';
import type { Millis } from '../lib/units.ts';

/** Looks at what a key stands for. @returns after how long to look again; undefined: once it is woken. */
export type Look = (key: string, signal: AbortSignal) => Promise<Millis | undefined>;

/** Of keys of one or more kinds, a word each; a key of a kind is looked at once at a time. */
export interface EngineQueue<Kind extends string> {
  /**
   * Has the key looked at after this time; the earlier time wins where it waits already. Nothing happens while the queue
   * does not run, so listeners may be set up before it does.
   * @param priority the higher goes first among keys that are due; 0 when left out.
   */
  wake(kind: Kind, key: string, delayMillis?: Millis, priority?: number): void;
  /**
   * Runs until `signal` aborts; then takes no more keys, waits for what is running and resolves. May be run again, and
   * begins empty.
   */
  run(looks: Readonly<Record<Kind, Look>>, signal: AbortSignal): Promise<void>;
}

export interface EngineQueueOptions {
  /** The engine: value of the label `queue`. One queue a name, as its depth is one series. */
  readonly name: string;
  /** Keys handled in parallel. At least 1. */
  readonly workers: number;
  readonly retryPolicy: BackoffPolicy;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function createEngineQueue<Kind extends string>(options: EngineQueueOptions): EngineQueue<Kind> {
  const { name, metrics } = options;
  const labels = { queue: name };
  let running: ReturnType<typeof createWorkQueue> | undefined;
  let depth = 0;
  metrics.onRender(() => {
    metrics.set('stowage_workqueue_depth', labels, depth);
    const now = options.clock.now();
    const failing = now - (running?.failingSince() ?? now);
    metrics.set('stowage_workqueue_failing_seconds', labels, Math.max(0, failing) / 1000);
  });
  const observer: QueueObserver = {
    added() {
      depth++;
      metrics.inc('stowage_workqueue_adds_total', labels);
    },
    taken(waitedMillis) {
      depth--;
      metrics.observe('stowage_workqueue_wait_seconds', labels, waitedMillis / 1000);
    },
    handled: (workMillis) => metrics.observe('stowage_workqueue_work_seconds', labels, workMillis / 1000),
    retried: () => metrics.inc('stowage_workqueue_retries_total', labels),
  };
  return {
    wake: (kind, key, delayMillis = 0, priority = 0) => running?.addAfter(`${kind} ${key}`, delayMillis, { priority }),
    async run(looks, signal) {
      const lookOf = new Map<string, Look>(Object.entries(looks));
      const handle: KeyHandler = async (item, ended) => {
        const space = item.indexOf(' ');
        const requeueAfterMillis = await lookOf.get(item.slice(0, space))?.(item.slice(space + 1), ended);
        return requeueAfterMillis === undefined ? undefined : { requeueAfterMillis };
      };
      const queue = createWorkQueue({ ...options, observer });
      running = queue;
      depth = 0;
      try {
        await queue.run(options.workers, handle, signal);
      } finally {
        if (running === queue) {
          running = undefined;
          depth = 0;
        }
      }
    },
  };
}

/**
 * A loop gives way to the webhook after working this long in one go. Most looks only compute and never wait for
 * anything, so thousands of them would hold up admissions, which must answer within 5 ms (DESIGN 7).
 */
const BREATHE_AFTER_MILLIS: Millis = 8;

/**
 * @returns what a loop calls between two pieces of work: it lets others have their turn once the last time is a while
 * ago.
 */
export function createBreather(clock: Clock): () => Promise<void> {
  let lastMillis = 0;
  return async () => {
    const worked = clock.now() - lastMillis;
    // Negative: the clock was set back, and would keep the loop from breathing until it has caught up.
    if (worked >= 0 && worked < BREATHE_AFTER_MILLIS) return;
    await sleep(clock, 0);
    lastMillis = clock.now();
  };
}

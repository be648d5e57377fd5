/** Writes Kubernetes events (events.k8s.io/v1) in the background: deduplicated, limited, and never a trouble to the caller. */
import type { KubeApi } from '../api/kube-api.ts';
import { isNotFound, isThrottled } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import { type BackoffPolicy, backoffDelay } from '../lib/backoff.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { EpochMillis } from '../lib/units.ts';
import { buildEvent, type EventNotice, eventNamespace, occurrenceKey, subjectOf } from './event-object.ts';
import { createEventSeries, type EventSeriesLimits } from './event-series.ts';
import { formatMicroTime } from './micro-time.ts';
import { ConnectionError } from './transport/transport.ts';

export interface EventRecorder {
  /** Takes note and returns at once. Never throws; what cannot be written is dropped and counted. */
  record(notice: EventNotice): void;
  /** Notices dropped so far: over the limit, or not accepted by the API server. */
  readonly dropped: number;
  readonly pending: number;
  /** Writes until `signal` aborts, then for at most two seconds what is left. */
  run(signal: AbortSignal): Promise<void>;
}

export interface EventRecorderOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Qualified name, e.g. `stowage.io/operator`. */
  readonly controller: string;
  /** This process, e.g. the pod's name. */
  readonly instance: string;
  readonly limits?: EventSeriesLimits;
}

interface Write {
  readonly key: string;
  readonly notice: EventNotice;
  readonly occurredMillis: EpochMillis;
  /** Repeats seen when it is written are in the series, not here. */
  readonly kind: 'create' | 'series';
}

/** Where an event of a series is stored, and what it said last. */
interface Stored {
  readonly name: string;
  readonly namespace: string;
  count: number;
  lastMillis: EpochMillis;
  /** When the object was last written. */
  writtenMillis: EpochMillis;
}

const MAX_PENDING = 1_000;
const MAX_STORED = 4_096;
const MAX_ATTEMPTS = 4;
const FLUSH_MILLIS = 2_000;
/** A series is written at most this often: a repeat each second must not cost a write each second. */
const SERIES_INTERVAL_MILLIS = 60_000;
const retryPolicy: BackoffPolicy = { initialMillis: 500, factor: 2, maxMillis: 10_000, jitter: 0.5 };

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { api, clock, random, log } = options;
  const reporter = { controller: options.controller, instance: options.instance };
  const series = createEventSeries(options.limits);
  const stored = new Map<string, Stored>();
  /** By key: of one series at most one write waits. */
  const queue = new Map<string, Write>();
  let dropped = 0;
  let wake: (() => void) | undefined;

  const enqueue = (write: Write): void => {
    if (queue.size >= MAX_PENDING) {
      dropped++;
      return;
    }
    queue.set(write.key, write);
    wake?.();
  };

  const record = (notice: EventNotice): void => {
    const now = clock.now();
    const key = occurrenceKey(notice);
    const verdict = series.record({ key, subject: subjectOf(notice.regarding) }, now);
    if (verdict.kind === 'dropped') {
      dropped++;
      return;
    }
    if (verdict.kind === 'create') {
      enqueue({ key, notice, occurredMillis: now, kind: 'create' });
      return;
    }
    const known = stored.get(key);
    if (known === undefined) return;
    known.count = verdict.count;
    known.lastMillis = now;
    if (now - known.writtenMillis >= SERIES_INTERVAL_MILLIS && !queue.has(key)) {
      enqueue({ key, notice, occurredMillis: now, kind: 'series' });
    }
  };

  const create = async (write: Write, signal: AbortSignal): Promise<void> => {
    const suffix = Math.floor(random.next() * 2 ** 48).toString(16) + write.occurredMillis.toString(16);
    const event = buildEvent(write.notice, reporter, suffix, write.occurredMillis);
    const { name = '', namespace = '' } = event.metadata ?? {};
    await api.create(resources.events, event, { namespace, signal });
    stored.delete(write.key);
    stored.set(write.key, {
      name,
      namespace,
      count: 1,
      lastMillis: write.occurredMillis,
      writtenMillis: Number.NEGATIVE_INFINITY,
    });
    const [oldest] = stored.keys();
    if (stored.size > MAX_STORED && oldest !== undefined) stored.delete(oldest);
  };

  const update = async (write: Write, known: Stored, signal: AbortSignal): Promise<void> => {
    known.writtenMillis = clock.now();
    const body = { series: { count: known.count, lastObservedTime: formatMicroTime(known.lastMillis) } };
    try {
      const { name, namespace } = known;
      await api.patch(resources.events, name, { type: 'merge', body }, { namespace, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // Events live for an hour; a longer series starts anew.
      stored.delete(write.key);
      await create(write, signal);
    }
  };

  const send = async (write: Write, signal: AbortSignal): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        const known = stored.get(write.key);
        await (write.kind === 'series' && known !== undefined ? update(write, known, signal) : create(write, signal));
        return;
      } catch (error) {
        const isTransient = error instanceof ConnectionError || isThrottled(error);
        if (signal.aborted || !isTransient || attempt >= MAX_ATTEMPTS) {
          dropped++;
          series.forget(write.key);
          const { reason, regarding } = write.notice;
          log.debug(
            { reason, name: regarding.name, namespace: eventNamespace(regarding), error },
            'An event could not be written',
          );
          return;
        }
        await sleep(clock, backoffDelay(retryPolicy, attempt, random), signal).catch(() => {});
      }
    }
  };

  const drain = async (signal: AbortSignal): Promise<void> => {
    for (const write of queue.values()) {
      if (signal.aborted) return;
      queue.delete(write.key);
      await send(write, signal);
    }
  };

  return {
    get dropped() {
      return dropped;
    },
    get pending() {
      return queue.size;
    },
    record(notice) {
      try {
        record(notice);
      } catch (error) {
        dropped++;
        log.warn({ error }, 'An event could not be recorded');
      }
    },
    async run(signal) {
      while (!signal.aborted) {
        await drain(signal);
        if (queue.size > 0 || signal.aborted) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        wake = undefined;
      }
      const flush = new AbortController();
      const timer = clock.setTimer(FLUSH_MILLIS, () => flush.abort(new Error('Stopping.')));
      await drain(flush.signal);
      timer.cancel();
    },
  };
}

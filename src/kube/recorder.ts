/**
 * Writes Kubernetes events (events.k8s.io/v1) in the background: deduplicated, limited, and never a trouble to the
 * caller.
 */
import type { KubeApi } from '../api/kube-api.ts';
import { isNotFound, isThrottled } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import { type BackoffPolicy, backoffDelay } from '../lib/backoff.ts';
import { type Clock, pause, type Timer } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { EpochMillis } from '../lib/units.ts';
import { buildEvent, type EventNotice, eventNamespace, occurrenceKey, subjectOf } from './event-object.ts';
import { createEventSeries, type EventSeriesLimits } from './event-series.ts';
import { formatMicroTime } from './micro-time.ts';
import { ConnectionError } from './transport/transport.ts';

/** Events are advice for people: losing one must never stop or delay what it is about. */
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
  /** Told of each notice that is dropped, for metrics. */
  readonly onDropped?: () => void;
}

interface Write {
  readonly key: string;
  readonly notice: EventNotice;
  readonly occurredMillis: EpochMillis;
  /** Repeats seen when it is written are in the series, not here. */
  readonly kind: 'create' | 'series';
}

/** Where an event is stored. */
interface Stored {
  readonly name: string;
  readonly namespace: string;
  /** When its series was last written. */
  writtenMillis: EpochMillis;
  /** Runs while repeats wait to be written; `writeNow` does it at once. */
  timer: Timer | undefined;
  writeNow: (() => void) | undefined;
}

const MAX_PENDING = 1_000;
const MAX_STORED = 4_096;
/** About five seconds of retries in all. */
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
  const drop = (): void => {
    dropped++;
    options.onDropped?.();
  };
  let wake: (() => void) | undefined;

  const enqueue = (write: Write): void => {
    if (queue.size >= MAX_PENDING) {
      drop();
      // The next occurrence must not count as a repeat of an event that does not exist.
      if (write.kind === 'create') series.forget(write.key);
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
      drop();
      return;
    }
    if (verdict.kind === 'create') {
      enqueue({ key, notice, occurredMillis: now, kind: 'create' });
      return;
    }
    const known = stored.get(key);
    // Not stored yet: the repeats are added when it is.
    if (known !== undefined) schedule(key, known, notice);
  };

  /** Has the growing series written, now or when its interval is over. */
  const schedule = (key: string, known: Stored, notice: EventNotice): void => {
    if (known.timer !== undefined || queue.has(key)) return;
    const now = clock.now();
    const write = (): void => {
      known.timer?.cancel();
      known.timer = undefined;
      enqueue({ key, notice, occurredMillis: now, kind: 'series' });
    };
    known.writeNow = write;
    known.timer = clock.setTimer(Math.max(0, known.writtenMillis + SERIES_INTERVAL_MILLIS - now), write);
  };

  const create = async (write: Write, signal: AbortSignal): Promise<void> => {
    const suffix = Math.floor(random.next() * 2 ** 48).toString(16) + write.occurredMillis.toString(16);
    const event = buildEvent(write.notice, reporter, suffix, write.occurredMillis);
    const { name = '', namespace = '' } = event.metadata ?? {};
    await api.create(resources.events, event, { namespace, signal });
    const known: Stored = {
      name,
      namespace,
      writtenMillis: Number.NEGATIVE_INFINITY,
      timer: undefined,
      writeNow: undefined,
    };
    remember(write.key, known);
    if ((series.stateOf(write.key)?.count ?? 1) > 1) schedule(write.key, known, write.notice);
  };

  const remember = (key: string, known: Stored): void => {
    stored.get(key)?.timer?.cancel();
    stored.delete(key);
    stored.set(key, known);
    const [oldest] = stored;
    if (stored.size <= MAX_STORED || oldest === undefined) return;
    oldest[1].timer?.cancel();
    stored.delete(oldest[0]);
  };

  /** The series as it stands now, repeats since it was queued included. */
  const update = async (write: Write, known: Stored, signal: AbortSignal): Promise<void> => {
    const state = series.stateOf(write.key);
    if (state === undefined) return;
    known.writtenMillis = clock.now();
    const body = { series: { count: state.count, lastObservedTime: formatMicroTime(state.lastMillis) } };
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
          drop();
          series.forget(write.key);
          const { reason, regarding } = write.notice;
          log.debug(
            { reason, name: regarding.name, namespace: eventNamespace(regarding), error },
            'An event could not be written',
          );
          return;
        }
        await pause(clock, backoffDelay(retryPolicy, attempt, random), signal);
      }
    }
  };

  /** One write after the other: events are not worth a burst of requests. */
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
        drop();
        log.warn({ error }, 'An event could not be recorded');
      }
    },
    async run(signal) {
      const sending = new AbortController();
      let limit: Timer | undefined;
      const onStop = (): void => {
        limit = clock.setTimer(FLUSH_MILLIS, () => sending.abort(new Error('Stopping.')));
        for (const known of stored.values()) if (known.timer !== undefined) known.writeNow?.();
        wake?.();
      };
      signal.addEventListener('abort', onStop, { once: true });
      if (signal.aborted) onStop();
      for (;;) {
        await drain(sending.signal);
        if (signal.aborted) break;
        if (queue.size > 0) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
      }
      limit?.cancel();
      signal.removeEventListener('abort', onStop);
      for (const known of stored.values()) known.timer?.cancel();
      stored.clear();
    },
  };
}

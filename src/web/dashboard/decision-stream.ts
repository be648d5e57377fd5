/**
 * `GET /api/decisions`: the decision journal as it is written, as server-sent events. The journal is listened to only while somebody
 * reads; what a reader has not taken is bounded, and a reader that falls behind is dropped: its browser comes back by itself.
 */
import type { Journal } from '../../act/journal.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Millis } from '../../lib/units.ts';
import { type AnyAnswer, jsonAnswer } from '../endpoint-server.ts';
import { decisionTold } from './decision-told.ts';

export interface DecisionStreamOptions {
  readonly journal: Pick<Journal, 'onRecord'>;
  readonly clock: Clock;
  /** Readers at a time; more are refused. */
  readonly maxReaders?: number;
  /** Events kept for a reader that has not taken them. */
  readonly maxWaiting?: number;
}

/** Less than what proxies take for silence. */
const HEARTBEAT: Millis = 15_000;
/** Of the browser, before it comes back. */
const RETRY: Millis = 3_000;
/**
 * A reader whose machine vanished without a word takes what is written for a quarter of an hour, as far as this side can
 * tell: the kernel goes on trying. So each stream ends in time, and who is still there opens the next.
 */
const LONGEST: Millis = 120_000;

/** @param gone of {@link Endpoint}: the reader has left. */
export type DecisionStream = (gone: AbortSignal) => AnyAnswer;

export function createDecisionStream(options: DecisionStreamOptions): DecisionStream {
  const { journal, clock, maxReaders = 16, maxWaiting = 500 } = options;
  let readers = 0;
  return (gone) => {
    if (readers >= maxReaders)
      return jsonAnswer(503, { code: 'BUSY', message: `${maxReaders} pages are listening already` });
    readers++;
    const slow = new AbortController();
    const old = new AbortController();
    const over = AbortSignal.any([gone, old.signal]);
    const age = clock.setTimer(LONGEST, () => old.abort());
    const waiting = [`retry: ${RETRY}\n\n`];
    let wake = (): void => {};
    let heartbeat: Timer | undefined;
    const push = (text: string): void => {
      if (waiting.length < maxWaiting) waiting.push(text);
      else slow.abort(new Error('The reader of decisions is too slow.'));
      wake();
    };
    const beat = (): void => {
      heartbeat = clock.setTimer(HEARTBEAT, () => {
        push(':\n\n');
        beat();
      });
    };
    beat();
    const unsubscribe = journal.onRecord((news) => {
      // What merely goes on being so is no news.
      if (news.entry.count === 1) push(`data: ${JSON.stringify(decisionTold(news))}\n\n`);
    });
    const end = (): void => {
      readers--;
      unsubscribe();
      heartbeat?.cancel();
      age.cancel();
      waiting.length = 0;
      wake();
    };
    over.addEventListener('abort', end, { once: true });
    if (over.aborted) end();
    async function* events(): AsyncGenerator<string> {
      while (!over.aborted) {
        if (waiting.length > 0) yield waiting.splice(0).join('');
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    }
    return {
      status: 200,
      contentType: 'text/event-stream; charset=utf-8',
      // A proxy in front would collect what comes, and pass it on when there is enough of it.
      headers: { 'X-Accel-Buffering': 'no' },
      body: events(),
      signal: slow.signal,
    };
  };
}

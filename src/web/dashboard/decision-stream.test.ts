import { describe, expect, test } from 'vitest';
import { createJournal, type Journal, type JournalInput } from '../../act/journal.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { PiecewiseAnswer } from '../endpoint-server.ts';
import { createDecisionStream } from './decision-stream.ts';

const move = (pod: string): JournalInput => ({
  kind: 'done',
  reason: 'EvictedForRebalance',
  message: `moved ${pod}`,
  pod,
});
const wait: JournalInput = { kind: 'blocked', reason: 'BlockedByPdb', message: 'no' };

function setUp(limits: { maxReaders?: number; maxWaiting?: number } = {}) {
  const clock = createVirtualClock(0);
  let listeners = 0;
  const base = createJournal({ clock });
  const journal: Journal = {
    ...base,
    onRecord(listener) {
      listeners++;
      const end = base.onRecord(listener);
      return () => {
        listeners--;
        end();
      };
    },
  };
  const open = createDecisionStream({ journal, clock, ...limits });
  return { clock, journal, open, listeners: () => listeners };
}

function read(answer: ReturnType<ReturnType<typeof setUp>['open']>) {
  const { body, signal } = answer as PiecewiseAnswer;
  const iterator = body[Symbol.asyncIterator]();
  return { signal, next: async () => (await iterator.next()).value as string | undefined };
}

describe('the stream of decisions', () => {
  test('tells each decision once it is made, and of what goes on being blocked only the first time', async () => {
    const { journal, open } = setUp();
    const { next } = read(open(new AbortController().signal));
    expect(await next()).toBe('retry: 3000\n\n');
    const coming = next();
    journal.record('Deployment/shop/web', move('a'));
    expect(JSON.parse((await coming)?.replace('data: ', '') ?? '')).toEqual({
      at: 0,
      workload: 'Deployment/shop/web',
      kind: 'done',
      reason: 'EvictedForRebalance',
      message: 'moved a',
      pod: 'a',
      count: 1,
    });
    for (let times = 0; times < 3; times++) journal.record('Deployment/shop/web', wait);
    expect((await next())?.match(/data: /g)).toHaveLength(1);
  });

  test('a proxy in front is asked to pass on what comes at once', () => {
    const { open } = setUp();
    expect(open(new AbortController().signal)).toMatchObject({
      contentType: 'text/event-stream; charset=utf-8',
      headers: { 'X-Accel-Buffering': 'no' },
    });
  });

  test('silence is broken before a proxy takes it for the end', async () => {
    const { clock, open } = setUp();
    const { next } = read(open(new AbortController().signal));
    await next();
    const coming = next();
    await clock.advance(15_000);
    expect(await coming).toBe(':\n\n');
  });

  test('nobody listens to the journal but while somebody reads', async () => {
    const { clock, open, listeners } = setUp();
    expect(listeners()).toBe(0);
    const gone = new AbortController();
    const { next } = read(open(gone.signal));
    await next();
    expect(listeners()).toBe(1);
    const coming = next();
    gone.abort();
    expect(await coming).toBeUndefined();
    expect(listeners()).toBe(0);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a reader that falls behind is dropped, and what waited for it is let go', () => {
    const { journal, open } = setUp({ maxWaiting: 5 });
    const { signal } = open(new AbortController().signal) as PiecewiseAnswer;
    for (let times = 0; times < 4; times++) journal.record('w', move('a'));
    expect(signal?.aborted).toBe(false);
    journal.record('w', move('a'));
    expect(signal?.aborted).toBe(true);
  });

  test('readers are bounded, and one that leaves makes room', () => {
    const { open } = setUp({ maxReaders: 1 });
    const gone = new AbortController();
    expect(open(gone.signal).status).toBe(200);
    expect(open(new AbortController().signal).status).toBe(503);
    gone.abort();
    expect(open(new AbortController().signal).status).toBe(200);
  });

  test('a reader that vanished without a word does not keep its place: streams end, and who is there opens another', async () => {
    const { clock, open, listeners } = setUp({ maxReaders: 1 });
    const vanished = open(new AbortController().signal);
    const { next } = read(vanished);
    await next();
    await clock.advance(110_000);
    expect(open(new AbortController().signal).status).toBe(503);
    let ended = await next();
    await clock.advance(10_000);
    while (ended !== undefined) ended = await next();
    expect(listeners()).toBe(0);
    expect(clock.pendingTimers()).toBe(0);
    expect(open(new AbortController().signal).status).toBe(200);
  });

  test('a reader that left before it was answered leaves nothing behind', () => {
    const { open, listeners } = setUp({ maxReaders: 1 });
    expect(open(AbortSignal.abort()).status).toBe(200);
    expect(listeners()).toBe(0);
    expect(open(new AbortController().signal).status).toBe(200);
  });
});

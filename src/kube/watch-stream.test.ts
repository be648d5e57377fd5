import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { added, createScriptedApi } from './testing/scripted-api.ts';
import { openWatchStream, WatchDeadlineError } from './watch-stream.ts';

function open(deadlineMillis: number, { isDeaf = false, signal = new AbortController().signal } = {}) {
  const clock = createVirtualClock(0);
  const scripted = createScriptedApi({ isDeaf });
  const stream = openWatchStream(
    (inner) => scripted.api.watch(resources.pods, { signal: inner }),
    clock,
    deadlineMillis,
    signal,
  );
  return { clock, scripted, stream };
}

test('yields events, then the end', async () => {
  const { scripted, stream, clock } = open(1_000);
  const first = stream.next();
  scripted.watch().push(added('a', 1));
  expect(await first).toMatchObject({ type: 'ADDED' });
  scripted.watch().end();
  expect(await stream.next()).toBeUndefined();
  stream.close();
  expect(clock.pendingTimers()).toBe(0);
});

test.each([false, true])('the deadline fails a pending read (source deaf to its signal: %s)', async (isDeaf) => {
  const { stream, clock, scripted } = open(1_000, { isDeaf });
  const pending = stream.next().catch((error: unknown) => error);
  await clock.advance(999);
  expect(scripted.watch().isAborted).toBe(false);
  await clock.advance(1);
  expect(await pending).toBeInstanceOf(WatchDeadlineError);
  await expect(stream.next()).rejects.toBeInstanceOf(WatchDeadlineError);
  expect(scripted.watch().isAborted).toBe(true);
});

test('extended, it counts from the extension, longer or shorter, with one timer', async () => {
  const { stream, clock } = open(1_000);
  const pending = stream.next().catch((error: unknown) => clock.now() && error);
  for (let count = 0; count < 50; count++) {
    await clock.advance(900);
    stream.extend(1_000);
    expect(clock.pendingTimers()).toBe(1);
  }
  stream.extend(10);
  await clock.advance(10);
  expect(await pending).toBeInstanceOf(WatchDeadlineError);
  expect(clock.now()).toBe(45_010);
});

test('the first deadline can be made shorter as well', async () => {
  const { stream, clock } = open(1_000);
  const pending = stream.next().catch((error: unknown) => error);
  stream.extend(10);
  await clock.advance(10);
  expect(await pending).toBeInstanceOf(WatchDeadlineError);
});

test('a machine clock set back by an hour costs one deadline more, not an hour', async () => {
  const virtual = createVirtualClock(86_400_000);
  let offset = 0;
  const clock = { ...virtual, now: () => virtual.now() + offset };
  const { api } = createScriptedApi();
  const { signal } = new AbortController();
  const stream = openWatchStream((inner) => api.watch(resources.pods, { signal: inner }), clock, 1_000, signal);
  let ended: unknown;
  stream.next().catch((error: unknown) => {
    ended = error;
  });
  await virtual.advance(500);
  offset = -3_600_000;
  await virtual.advance(1_600);
  expect(ended).toBeInstanceOf(WatchDeadlineError);
  expect(virtual.pendingTimers()).toBe(0);
});

test('the outer signal ends it with its reason, and closing twice does no harm', async () => {
  const stop = new AbortController();
  const { stream, clock } = open(1_000, { isDeaf: true, signal: stop.signal });
  const pending = stream.next();
  stop.abort(new Error('shutdown'));
  await expect(pending).rejects.toThrow('shutdown');
  stream.close();
  stream.extend(5);
  expect(clock.pendingTimers()).toBe(0);
});

test('an outer signal that is aborted already', async () => {
  const { stream, clock } = open(1_000, { signal: AbortSignal.abort(new Error('too late')) });
  await expect(stream.next()).rejects.toThrow('too late');
  expect(clock.pendingTimers()).toBe(0);
});

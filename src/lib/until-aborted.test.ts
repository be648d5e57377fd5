import { expect, test } from 'vitest';
import { aborted, untilAborted } from './until-aborted.ts';

test('settles as the work does', async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve(7), signal)).toBe(7);
  await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
});

test('an abort frees whoever waits for work that never ends', async () => {
  const stop = new AbortController();
  const waiting = untilAborted(new Promise(() => {}), stop.signal);
  stop.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
});

test('an aborted signal rejects at once, and the failure of the work that follows is nobody’s', async () => {
  const work = Promise.withResolvers<number>();
  const waiting = untilAborted(work.promise, AbortSignal.abort(new Error('stop')));
  work.reject(new Error('late'));
  await expect(waiting).rejects.toThrow('stop');
});

test('what is done with the signal afterwards changes nothing', async () => {
  const stop = new AbortController();
  const waiting = untilAborted(Promise.resolve(7), stop.signal);
  expect(await waiting).toBe(7);
  stop.abort(new Error('stop'));
  expect(await waiting).toBe(7);
});

test('an abort resolves whoever waits for nothing else, before and after', async () => {
  const stop = new AbortController();
  const waiting = aborted(stop.signal);
  stop.abort();
  await waiting;
  await aborted(stop.signal);
});

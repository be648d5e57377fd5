import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createDeferred } from './deferred.ts';

test('resolves once, whatever comes later', async () => {
  const deferred = createDeferred<number>();
  deferred.resolve(1);
  deferred.resolve(2);
  deferred.reject(new Error('late'));
  expect(await deferred.promise).toBe(1);
});

test('rejects with the reason, and stays pending until then', async () => {
  const deferred = createDeferred<void>();
  const winner = await Promise.race([deferred.promise, Promise.resolve('still pending')]);
  expect(winner).toBe('still pending');
  deferred.reject(new Error('no'));
  await expect(deferred.promise).rejects.toThrow('no');
});

test('a rejection that nobody waits for is no unhandled one', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  createDeferred<void>().reject(new Error('no'));
  await setImmediate();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

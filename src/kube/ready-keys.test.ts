import { expect, test } from 'vitest';
import { createReadyKeys } from './ready-keys.ts';

test('the first come of the highest priority is next, and then there is none', () => {
  const ready = createReadyKeys();
  for (const [key, priority] of [
    ['a', 0],
    ['b', 5],
    ['c', 0],
    ['d', 5],
  ] as const)
    expect(ready.put(key, { priority, sinceMillis: 1 })).toBe(true);
  expect(Array.from({ length: 5 }, () => ready.take()?.key)).toEqual(['b', 'd', 'a', 'c', undefined]);
  expect(ready.size).toBe(0);
});

test('a key that becomes more urgent is there once, and has waited since it was added first', () => {
  const ready = createReadyKeys();
  ready.put('a', { priority: 0, sinceMillis: 1 });
  ready.put('b', { priority: 1, sinceMillis: 2 });
  expect(ready.put('a', { priority: 2, sinceMillis: 3 })).toBe(true);
  expect(ready.put('a', { priority: 1, sinceMillis: 4 })).toBe(false);
  expect(ready.size).toBe(2);
  expect(ready.take()).toEqual({ key: 'a', priority: 2, sinceMillis: 1 });
  expect(ready.take()?.key).toBe('b');
  expect(ready.take()).toBeUndefined();
});

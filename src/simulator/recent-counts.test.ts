import { expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createRecentCounts } from './recent-counts.ts';

test('counts by key what happened within the time', async () => {
  const clock = createVirtualClock(0);
  const { add } = createRecentCounts(clock, 1_000);
  expect([add('a'), add('a'), add('b')]).toEqual([1, 2, 1]);
  await clock.advance(999);
  expect(add('a')).toBe(3);
  await clock.advance(1);
  expect([add('a'), add('b')]).toEqual([2, 1]);
});

test('keeps no key that has not happened for twice the time', async () => {
  const clock = createVirtualClock(0);
  const counts = createRecentCounts(clock, 1_000);
  for (let index = 0; index < 500; index++) {
    counts.add('again');
    counts.add(`once-${index}`);
    await clock.advance(100);
  }
  expect(counts.size).toBeLessThanOrEqual(22);
});

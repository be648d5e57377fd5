import { expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createUnrest } from './unrest.ts';

test('an upheaval counts while it lasts and for what began before its end, also where it fails', async () => {
  const clock = createVirtualClock(1000);
  const unrest = createUnrest(clock);
  expect(unrest.hasBeenSince(0)).toBe(false);
  const work = Promise.withResolvers<void>();
  const during = unrest.during(() => work.promise);
  await clock.advance(500);
  expect(unrest.hasBeenSince(clock.now())).toBe(true);
  work.reject(new Error('no'));
  await expect(during).rejects.toThrow('no');
  expect(unrest.hasBeenSince(1500)).toBe(true);
  expect(unrest.hasBeenSince(1501)).toBe(false);
});

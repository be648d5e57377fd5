import { expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { skewClock } from './skewed-clock.ts';

test.each([90_000, -90_000])('a clock %i ms off tells another time, and waits as long', async (skew) => {
  const clock = createVirtualClock(1_000_000);
  const skewed = skewClock(clock, skew);
  expect(skewed.now()).toBe(1_000_000 + skew);
  let firedAt: number | undefined;
  skewed.setTimer(500, () => {
    firedAt = clock.now();
  });
  await clock.advance(500);
  expect(firedAt).toBe(1_000_500);
});

test('it may be set while timers run', async () => {
  const clock = createVirtualClock(0);
  const skewed = skewClock(clock, 1000);
  let firedAt: number | undefined;
  skewed.setTimer(500, () => {
    firedAt = skewed.now();
  });
  skewed.set(-61_000);
  await clock.advance(500);
  expect([firedAt, skewed.skewMillis]).toEqual([-59_500, -60_000]);
});

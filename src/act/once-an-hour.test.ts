import { expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createOnceAnHour } from './once-an-hour.ts';

const HOUR = 3_600_000;

test('a matter is due once an hour, of each object on its own', async () => {
  const clock = createVirtualClock(0);
  const told = createOnceAnHour(clock);
  expect(told.isDue('a', 'blocked')).toBe(true);
  expect(told.isDue('a', 'blocked')).toBe(false);
  expect(told.isDue('a', 'conflict')).toBe(true);
  expect(told.isDue('b', 'blocked')).toBe(true);
  await clock.advance(HOUR - 1);
  expect(told.isDue('a', 'blocked')).toBe(false);
  await clock.advance(1);
  expect(told.isDue('a', 'blocked')).toBe(true);
});

test('what is forgotten is due again', () => {
  const told = createOnceAnHour(createVirtualClock(0));
  told.isDue('a', 'blocked');
  told.forget('a');
  expect(told.isDue('a', 'blocked')).toBe(true);
});

test('a machine clock set back by a day does not silence a matter for the day', () => {
  let now = 10 * 24 * HOUR;
  const told = createOnceAnHour({ ...createVirtualClock(0), now: () => now });
  told.isDue('a', 'blocked');
  now -= 24 * HOUR;
  expect(told.isDue('a', 'blocked')).toBe(true);
});

test('a matter that is another each time ends in silence, not in memory', async () => {
  const clock = createVirtualClock(0);
  const told = createOnceAnHour(clock);
  const due = Array.from({ length: 1_000 }, (_, index) => told.isDue('a', `annotation ${index}`));
  expect(due.filter(Boolean)).toHaveLength(100);
  expect(told.isDue('b', 'blocked')).toBe(true);
  await clock.advance(HOUR);
  expect(told.isDue('a', 'blocked')).toBe(true);
});

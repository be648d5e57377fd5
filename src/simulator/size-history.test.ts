import { expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createSizeHistory } from './size-history.ts';

test('turns of direction are counted, steps on the same way are not', () => {
  const history = createSizeHistory(createVirtualClock(0));
  const amounts = [100, 200, 300, 250, 200, 400, 100];
  const turns = amounts.slice(1).map((to, index) => history.note('a', 'cpu', { from: amounts[index], to }));
  expect(turns).toEqual([0, 0, 1, 1, 2, 3]);
  expect(history.note('b', 'cpu', { from: 2, to: 1 })).toBe(0);
});

test('to have no limit is to have the largest', () => {
  const history = createSizeHistory(createVirtualClock(0));
  history.note('a', 'cpu', { from: 100, to: undefined });
  expect(history.note('a', 'cpu', { from: undefined, to: 100 })).toBe(1);
});

test('what is an hour old is forgotten', async () => {
  const clock = createVirtualClock(0);
  const history = createSizeHistory(clock);
  history.note('a', 'cpu', { from: 1, to: 2 });
  history.note('a', 'cpu', { from: 2, to: 1 });
  await clock.advance(3_600_000);
  expect(history.note('a', 'cpu', { from: 1, to: 2 })).toBe(1);
});

test('how often within a minute', async () => {
  const clock = createVirtualClock(0);
  const history = createSizeHistory(clock);
  expect([history.count('a'), history.count('a'), history.count('b')]).toEqual([1, 2, 1]);
  await clock.advance(60_000);
  expect(history.count('a')).toBe(1);
});

test('one that is gone begins anew, and its amounts are told apart', () => {
  const history = createSizeHistory(createVirtualClock(0));
  history.note('a', 'cpu', { from: 1, to: 2 });
  expect(history.note('a', 'memory', { from: 2, to: 1 })).toBe(0);
  history.note('b', 'cpu', { from: 1, to: 2 });
  history.count('a');
  history.forget('a');
  expect(history.note('a', 'cpu', { from: 2, to: 1 })).toBe(0);
  expect(history.note('b', 'cpu', { from: 2, to: 1 })).toBe(1);
  expect(history.count('a')).toBe(1);
});

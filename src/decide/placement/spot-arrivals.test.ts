import { expect, test } from 'vitest';
import { createSpotArrivals } from './spot-arrivals.ts';

test('pods are on their way until they arrive, or for a minute', () => {
  const arrivals = createSpotArrivals();
  for (const [index, uid] of ['a', 'b', 'c'].entries()) arrivals.setOut(uid, index * 1000);
  expect(arrivals.onTheirWay(2000)).toBe(3);
  arrivals.arrived('b');
  arrivals.arrived('unknown');
  expect(arrivals.onTheirWay(59_999)).toBe(2);
  expect(arrivals.onTheirWay(60_000)).toBe(1);
});

test('who is told again set out when it was told first', () => {
  const arrivals = createSpotArrivals();
  arrivals.setOut('a', 0);
  arrivals.setOut('a', 30_000);
  expect([arrivals.onTheirWay(59_999), arrivals.onTheirWay(60_000)]).toEqual([1, 0]);
});

import { expect, test } from 'vitest';
import { percentilesOf } from '../../model/usage-window.ts';
import { windowPercentile } from './window-percentile.ts';

const window = percentilesOf([100, 200, 300]);

test.each([
  [50, 200],
  [90, 280],
  [95, 290],
  [99, 298],
  [100, 300],
  [75, undefined],
])('optipod pinned: P%d of 100, 200, 300 is %s', (percentile, expected) => {
  expect(windowPercentile(window, percentile)).toBe(expected);
});

test('without a window there is none', () => {
  expect(windowPercentile(undefined, 90)).toBeUndefined();
});

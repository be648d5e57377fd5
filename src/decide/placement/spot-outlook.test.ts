import { expect, test } from 'vitest';
import { untroubledSpot } from './spot-outlook.ts';

test('without an operator nothing is known against spot', () => {
  expect(untroubledSpot.stateOf('w', 0)).toEqual({ kind: 'open' });
  expect(untroubledSpot.lastLanded('w')).toBeUndefined();
  expect(untroubledSpot.storm(0)).toBeUndefined();
  expect(untroubledSpot.lossyPools(1, 0)).toEqual([]);
});

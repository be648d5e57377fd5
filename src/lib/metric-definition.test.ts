import { expect, test } from 'vitest';
import { each, requestBuckets, workBuckets } from './metric-definition.ts';

test('each makes one series a value', () => {
  expect(each('result', ['a', 'b'])).toEqual([{ result: 'a' }, { result: 'b' }]);
  expect(each('result', [])).toEqual([]);
});

test.each([
  ['requests', requestBuckets, 0.0005, 10],
  ['work', workBuckets, 0.001, 60],
])('the buckets for %s rise from %d s to %d s', (_, buckets, first, last) => {
  expect([...buckets]).toEqual([...buckets].toSorted((a, b) => a - b));
  expect(new Set(buckets).size).toBe(buckets.length);
  expect([buckets[0], buckets.at(-1)]).toEqual([first, last]);
});

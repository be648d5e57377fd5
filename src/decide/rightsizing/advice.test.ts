import { expect, test } from 'vitest';
import { amend, noAdvice } from './advice.ts';

test('amending keeps what was said before, and leaves the draft it came from alone', () => {
  const first = amend({ value: 1, notes: [] }, 'target', 2, 'two');
  const second = amend(first, 'bounds', 3, 'three');
  expect(second).toEqual({
    value: 3,
    notes: [
      { stage: 'target', value: 2, text: 'two' },
      { stage: 'bounds', value: 3, text: 'three' },
    ],
  });
  expect(first.notes).toHaveLength(1);
});

test('no advice has no value, not even the smallest', () => {
  expect(noAdvice('NoData', 'nothing is known')).toMatchObject({
    request: undefined,
    limit: undefined,
    isDue: false,
    held: 'NoData',
    notes: [{ stage: 'target', text: 'nothing is known' }],
  });
});

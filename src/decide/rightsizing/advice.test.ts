import { describe, expect, test } from 'vitest';
import { amend, type CapReason, capOf, noAdvice, type Stage } from './advice.ts';

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

describe('what caps a value', () => {
  const notes = (...steps: readonly (readonly [Stage, number])[]) =>
    steps.map(([stage, value]) => ({ stage, value, text: '' }));
  test.each<[string, readonly (readonly [Stage, number])[], CapReason | undefined]>([
    ['nothing', [['target', 100]], undefined],
    [
      'the maximum',
      [
        ['target', 100],
        ['bounds', 80],
      ],
      'AtMax',
    ],
    [
      'the minimum is no cap',
      [
        ['target', 100],
        ['bounds', 120],
      ],
      undefined,
    ],
    [
      'the limit that stays, below the maximum',
      [
        ['target', 100],
        ['bounds', 80],
        ['limit', 50],
      ],
      'AtLimit',
    ],
    [
      'a LimitRange',
      [
        ['target', 100],
        ['limit-range', 80],
      ],
      'AtLimitRange',
    ],
    [
      'the largest node',
      [
        ['target', 100],
        ['bounds', 90],
        ['node-size', 80],
      ],
      'NodeTooSmall',
    ],
    [
      'a cap that is overruled',
      [
        ['target', 100],
        ['bounds', 80],
        ['limit-range', 90],
      ],
      undefined,
    ],
    [
      'a quota has a reason of its own',
      [
        ['target', 100],
        ['bounds', 80],
        ['quota', 70],
      ],
      undefined,
    ],
    [
      'a note that changes nothing',
      [
        ['target', 100],
        ['bounds', 80],
        ['limit', 80],
      ],
      'AtMax',
    ],
  ])('%s', (_, steps, expected) => {
    expect(capOf(notes(...steps))).toBe(expected);
  });
});

import { expect, test } from 'vitest';
import { differenceOf, figureOf, figureText, figureValue } from './simulation-part.ts';

test.each([
  [3, '3'],
  [1234, '1,234'],
  [40.805, '40.80'],
  [0.1, '0.10'],
])('a figure of %d is %s', (value, text) => {
  expect(figureOf(value)).toBe(text);
});

test.each([
  [3, 3, ''],
  [3, 1, '-2'],
  [1, 2.5, '+1.50'],
])('from %d to %d is %j', (left, right, text) => {
  expect(differenceOf(left, right)).toBe(text);
});

test('a figure that is not there is a dash', () => {
  const figures = [{ name: 'cost', value: 4 }];
  expect([figureText(figures, 'cost'), figureText(figures, 'hours'), figureValue(figures, 'hours')]).toEqual([
    '4',
    '-',
    undefined,
  ]);
});

import { expect, test } from 'vitest';
import { beginOf, lineOf, rangeText } from './shares-part.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

test('a line goes on until the next value, and to the end', () => {
  const frame = { from: 0, now: 360, most: 100 };
  expect(
    lineOf(
      [
        [0, 100],
        [180, 50],
      ],
      360,
      frame,
    ),
  ).toBe('M0.0 4.0 L180.0 4.0 L180.0 30.0 L360.0 30.0');
  expect(lineOf([[-50, 100]], 90, frame)).toBe('M0.0 4.0 L90.0 4.0');
  expect(lineOf([], 90, frame)).toBe('');
});

test.each([
  ['an hour, where so much is known', 2 * HOUR, HOUR],
  ['what is known, where it is less', 20 * MINUTE, 20 * MINUTE],
  ['two minutes at least', MINUTE / 2, 2 * MINUTE],
])('the picture shows %s', (_name, known, shown) => {
  const now = 10 * HOUR;
  const pods = [
    { given: [[now - known, 1]], used: [] },
    { given: [], used: [[now - MINUTE / 4, 1]] },
  ] as const;
  expect(now - beginOf(pods, now)).toBe(shown);
});

test.each([
  [[], 'Given is not known'],
  [[[0, 200]], 'Given 200m all along'],
  [
    [
      [0, 200],
      [5, 90],
      [6, 1500],
    ],
    'Given 90m to 1.5, last 1.5',
  ],
] as const)('the picture in words: %j', (steps, text) => {
  expect(rangeText('Given', steps)).toBe(text);
});

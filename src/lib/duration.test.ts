import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';
import { InvalidValueError } from './errors.ts';

describe('parseDuration', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['-0s', 0],
    ['10s', 10_000],
    ['500ms', 500],
    ['30m', 1_800_000],
    ['1h30m', 5_400_000],
    ['2h30m15s', 9_015_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['5.s', 5000],
    ['1m1m', 120_000],
    ['1s1h', 3_601_000],
    ['+5s', 5000],
    ['-5s', -5000],
    ['1us', 0.001],
    ['1µs', 0.001],
    ['1μs', 0.001],
    ['1000000ns', 1],
    ['2160h', 7_776_000_000],
  ])('%s is %d ms', (text, millis) => expect(parseDuration(text)).toBeCloseTo(millis, 9));

  test.each([
    '',
    '5',
    '1.5',
    's',
    'm5',
    '5 s',
    ' 5s',
    '5s ',
    '5S',
    '1d',
    '1w',
    '1h-30m',
    '--5s',
    '+-5s',
    '.s',
    '1e3s',
    '∞h',
    '5s\n',
    '10 minutes',
  ])('%j is refused', (text) => expect(() => parseDuration(text)).toThrow(InvalidValueError));

  test('the message tells the accepted form', () => {
    expect(() => parseDuration('30')).toThrow(
      'duration: "30" is not valid; accepted: a duration such as 30s, 10m, 1h30m or 500ms',
    );
  });

  test('what Go cannot hold is refused', () => {
    expect(() => parseDuration('9999999h')).toThrow(/292 years/);
    expect(parseDuration('2562047h')).toBe(2_562_047 * 3_600_000);
  });
});

describe('formatDuration', () => {
  test.each([
    [0, '0s'],
    [1, '1ms'],
    [999, '999ms'],
    [0.25, '0.25ms'],
    [1000, '1s'],
    [29_734, '29.734s'],
    [60_000, '1m'],
    [89_500, '1m29.5s'],
    [3_600_000, '1h'],
    [5_400_000, '1h30m'],
    [3_601_000, '1h1s'],
    [90_000_000, '25h'],
    [-5000, '-5s'],
  ])('%d ms is %s', (millis, text) => expect(formatDuration(millis)).toBe(text));

  test('for any whole number of milliseconds the text reads back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (millis) => {
        expect(Math.round(parseDuration(formatDuration(millis)))).toBe(millis);
      }),
    );
  });
});

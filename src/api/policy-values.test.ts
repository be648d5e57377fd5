import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDuration } from '../lib/duration.ts';
import { InvalidValueError } from '../lib/errors.ts';
import { parsePolicyDuration, parseShare, percentOfPercentile } from './policy-values.ts';

const HOUR = 3_600_000;

describe('parsePolicyDuration', () => {
  test.each<[string, number]>([
    ['0', 0],
    ['0s', 0],
    ['24h', 24 * HOUR],
    ['168h', 168 * HOUR],
    ['1h30m', 1.5 * HOUR],
    ['+5m', HOUR / 12],
    ['7d', 7 * 24 * HOUR],
    ['2w', 14 * 24 * HOUR],
    ['1.5d', 36 * HOUR],
    ['1w2d3h', (9 * 24 + 3) * HOUR],
    ['500ms', 500],
    ['3\u00b5s', 0.003],
  ])('%s', (text, expected) => {
    expect(parsePolicyDuration(text)).toBeCloseTo(expected, 6);
  });

  test.each(['', '7', '7 days', '-1h', '1y', 'd', '1h 30m', '1e3s', '9999999999d', '١d'])('%j is refused', (text) => {
    expect(() => parsePolicyDuration(text)).toThrow(InvalidValueError);
  });

  test('for any duration of Go it is the same', () => {
    const unit = fc.constantFrom('ms', 's', 'm', 'h');
    const term = fc.tuple(fc.integer({ min: 0, max: 1000 }), unit).map(([amount, name]) => `${amount}${name}`);
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 4 }), (terms) => {
        expect(parsePolicyDuration(terms.join(''))).toBe(parseDuration(terms.join('')));
      }),
    );
  });
});

test.each([
  ['P50', 50],
  ['P95', 95],
])('%s is the percentile %i', (text, expected) => {
  expect(percentOfPercentile(text)).toBe(expected);
});

describe('parseShare', () => {
  test.each([
    ['10%', 0.1],
    ['0%', 0],
    ['2.5%', 0.025],
    ['250%', 2.5],
  ])('%s', (text, expected) => {
    expect(parseShare(text)).toBeCloseTo(expected, 9);
  });

  test.each(['10', '', '%', '-5%', '10 %', '1,5%'])('%j is refused', (text) => {
    expect(() => parseShare(text)).toThrow(/a percentage such as 10%/);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatTime, isInstant, parseTime } from './rfc3339.ts';

describe('instants in text', () => {
  test('are UTC and whole seconds', () => {
    expect(formatTime(Date.UTC(2026, 0, 31, 12, 0, 5, 999))).toBe('2026-01-31T12:00:05Z');
  });

  test.each([[undefined], [''], ['yesterday'], ['2026-13-40T00:00:00Z']])('%j is none', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  test.each([0, 1_767_225_600_000, 8_640_000_000_000_000])('%d is an instant, and can be written', (at) => {
    expect(isInstant(at)).toBe(true);
    expect(formatTime(at)).toMatch(/T\d\d:\d\d:\d\dZ$/);
  });

  test.each([[-1], [0.5], [8_640_000_000_000_001], [1e300], [Number.NaN], [Number.POSITIVE_INFINITY], ['1'], [null]])(
    '%j is no instant',
    (value) => {
      expect(isInstant(value)).toBe(false);
    },
  );

  test('another zone is the same instant', () => {
    expect(parseTime('2026-01-31T13:00:00+01:00')).toBe(Date.UTC(2026, 0, 31, 12));
  });

  test('for any instant, reading what was written gives its second', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (at) => {
        expect(parseTime(formatTime(at))).toBe(Math.floor(at / 1000) * 1000);
      }),
      { numRuns: 200 },
    );
  });
});

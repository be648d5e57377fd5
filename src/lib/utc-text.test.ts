import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { httpDate, isoText } from './utc-text.ts';

const [first, last] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];
const instants = fc.oneof(fc.integer({ min: first, max: last }), fc.integer({ min: 0, max: 4e12 }));

describe('instants as text', () => {
  test('are what Date writes, for any instant', () => {
    fc.assert(
      fc.property(instants, (at) => {
        expect(isoText(at)).toBe(new Date(at).toISOString());
        expect(httpDate(at)).toBe(new Date(at).toUTCString());
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    [first, '0000-01-01T00:00:00.000Z', 'Sat, 01 Jan 0000 00:00:00 GMT'],
    [-1, '1969-12-31T23:59:59.999Z', 'Wed, 31 Dec 1969 23:59:59 GMT'],
    [0, '1970-01-01T00:00:00.000Z', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    [Date.parse('2024-02-29T01:02:03.004Z'), '2024-02-29T01:02:03.004Z', 'Thu, 29 Feb 2024 01:02:03 GMT'],
    [last, '9999-12-31T23:59:59.999Z', 'Fri, 31 Dec 9999 23:59:59 GMT'],
  ])('%i', (at, iso, http) => {
    expect([isoText(at), httpDate(at)]).toEqual([iso, http]);
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMicroTime } from './micro-time.ts';

test('MicroTime digits: for any instant exactly six, in UTC, and the same instant back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (millis) => {
      const text = formatMicroTime(millis);
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      expect(Date.parse(text)).toBe(millis);
    }),
  );
});

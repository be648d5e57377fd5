import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortened } from './shortened.ts';

test.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc... (4 characters)'],
  ['ab\u{1f600}', 3, 'ab\ufffd... (4 characters)'],
])('%j at %d: %j', (text, most, short) => {
  expect(shortened(text, most)).toBe(short);
});

test('for any text, what is left is hardly longer than allowed, and well formed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.nat(100), (text, most) => {
      const short = shortened(text, most);
      expect(short.length).toBeLessThanOrEqual(Math.max(text.length, most) + 30);
      if (text.length > most) expect(short.length).toBeLessThanOrEqual(most + 30);
      expect(short.isWellFormed()).toBe(true);
    }),
  );
});

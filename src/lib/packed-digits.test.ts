import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packDigits, unpackDigits } from './packed-digits.ts';

test.each([
  ['', 0],
  ['7', 1],
  ['90 10.5 -3', 5],
  ['T1769846709 t1769846709007', 13],
  ['90 1e21', 8],
  ['\u00ff', 2],
])('of %j as many characters are kept: %s', (text, kept) => {
  const packed = packDigits(text);
  expect(packed).toHaveLength(kept);
  expect(unpackDigits(packed)).toBe(text);
});

test('any text is what it was', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789. -Tt'.split('')), maxLength: 200 });
  fc.assert(
    fc.property(fc.oneof(digits, fc.string(), fc.string({ unit: 'binary' })), (text) => {
      expect(unpackDigits(packDigits(text))).toBe(text);
    }),
  );
});

test('digits take a character of one byte for two', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 1 }), (numbers) => {
      const text = numbers.join(' ');
      const packed = packDigits(text);
      expect(packed).toHaveLength(Math.ceil(text.length / 2));
      expect(packed).toMatch(/^[\0-\u00ff]+$/);
    }),
  );
});

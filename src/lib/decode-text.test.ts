import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeText } from './decode-text.ts';

test('text without a mark is UTF-8', () => {
  expect(decodeText(Buffer.from('größe: 1\n'))).toBe('größe: 1\n');
  expect(decodeText(Buffer.alloc(0))).toBe('');
});

test('for any text: it is the same in each encoding, and the mark of UTF-16 is no part of it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const little = Buffer.from(`\ufeff${text}`, 'utf16le');
      expect(decodeText(little)).toBe(text);
      expect(decodeText(Buffer.from(little).swap16())).toBe(text);
    }),
  );
});

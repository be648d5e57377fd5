import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printable, printableJson } from './printable.ts';

const STEERS = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

describe('printable', () => {
  test.each([
    ['plain', 'plain'],
    ['red \u001b[31m', 'red \\x1b[31m'],
    ['two\nlines', 'two\\x0alines'],
    ['c1 \u009b', 'c1 \\x9b'],
    ['bidi \u202e', 'bidi \\u202e'],
    ['日本', '日本'],
  ])('%j becomes %j', (text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  test('nothing that steers a terminal survives, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(STEERS);
      }),
    );
  });
});

describe('printableJson', () => {
  test.each([
    ['"c1 \u009b31m"', '"c1 \\u009b31m"'],
    ['"del \u007f"', '"del \\u007f"'],
    ['{"a":"\u202e"}', '{"a":"\\u202e"}'],
    ['"größe"', '"größe"'],
  ])('%j becomes %j', (json, expected) => {
    expect(printableJson(json)).toBe(expected);
  });

  test('means the same and steers nothing, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = printableJson(JSON.stringify({ [text]: text }));
        expect(json).not.toMatch(STEERS);
        expect(JSON.parse(json)).toEqual({ [text]: text });
      }),
    );
  });
});

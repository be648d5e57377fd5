import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printable, textWidth, truncate, wrap } from './text-width.ts';

describe('textWidth', () => {
  test.each([
    ['', 0],
    ['pod-1', 5],
    ['größe', 5],
    ['e\u0301', 1],
    ['日本', 4],
    ['한글', 4],
    ['🚀', 2],
    ['👩‍👩‍👧', 2],
    ['…', 1],
    ['ｆｕｌｌ', 8],
  ])('%j takes %d columns', (text, expected) => {
    expect(textWidth(text)).toBe(expected);
  });
});

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

  test('no control character survives, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('truncate', () => {
  test.each([
    ['short', 5, 'short'],
    ['longer', 5, 'long…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['x', 0, ''],
  ])('%j to %d columns is %j', (text, width, expected) => {
    expect(truncate(text, width)).toBe(expected);
  });

  test('never takes more than the width, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        expect(textWidth(truncate(text, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('wrap', () => {
  test('breaks at spaces only', () => {
    expect(wrap('one two three-four-five six', 8)).toEqual(['one two', 'three-four-five', 'six']);
  });

  test('keeps every word, for any words and width', () => {
    const word = fc.string({ unit: 'grapheme-ascii', minLength: 1 }).filter((text) => !text.includes(' '));
    fc.assert(
      fc.property(fc.array(word), fc.integer({ min: 1, max: 30 }), (words, width) => {
        const lines = wrap(words.join(' '), width);
        expect(lines.join(' ')).toBe(words.join(' '));
        for (const line of lines) if (line.includes(' ')) expect(textWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

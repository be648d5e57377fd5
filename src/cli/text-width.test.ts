import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printableLine, textWidth, truncate, wrap } from './text-width.ts';

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

describe('printableLine', () => {
  test('keeps colours and nothing else that a terminal obeys', () => {
    const line = '\u001b[1;31mred\u001b[0m \u001b]0;title\u0007 \u001b[2J \u009b31m end';
    expect(printableLine(line)).toBe('\u001b[1;31mred\u001b[0m \\x1b]0;title\\x07 \\x1b[2J \\x9b31m end');
  });

  test('leaves a plain line alone', () => {
    expect(printableLine('  blocked   BlockedByPdb: größe')).toBe('  blocked   BlockedByPdb: größe');
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

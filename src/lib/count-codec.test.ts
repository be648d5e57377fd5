import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeCounts, encodeCounts } from './count-codec.ts';
import { InvalidValueError } from './errors.ts';

describe('counts as text', () => {
  test('of nothing are nothing', () => {
    expect([encodeCounts([]), decodeCounts('')]).toEqual(['', []]);
  });

  test('have one form, which later versions read', () => {
    const counts = [1, 300, 0, 2 ** 32 - 1];
    const text = 'AawCAP////8P';
    expect(encodeCounts(counts)).toBe(text);
    expect(decodeCounts(text)).toEqual(counts);
  });

  test('for any counts, what is read is what was written', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2 ** 31 - 1)), (counts) => {
        expect(decodeCounts(encodeCounts(counts))).toEqual(counts);
      }),
      { numRuns: 150 },
    );
  });

  test.each([
    [0, 1],
    [127, 1],
    [128, 2],
    [16_384, 3],
    [2 ** 32 - 1, 5],
  ])('%d takes %d bytes', (count, bytes) => {
    const text = encodeCounts([count]);
    expect(Buffer.from(text, 'base64')).toHaveLength(bytes);
    expect(decodeCounts(text)).toEqual([count]);
  });

  test.each([
    ['no base64', '!!'],
    ['cut within a number', Buffer.from([200]).toString('base64')],
    ['a number that is too large', Buffer.from([255, 255, 255, 255, 127]).toString('base64')],
    ['long rubbish', 'x'.repeat(101)],
  ])('%s is refused', (_name, text) => {
    expect(() => decodeCounts(text)).toThrow(InvalidValueError);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount, formatCpu, formatMemory } from './amount-text.ts';

describe('amounts in text', () => {
  test.each([
    [3000, '3'],
    [2400, '2400m'],
    [4000, '4'],
    [500, '500m'],
    [0, '0'],
  ])('%d millicores are %s', (millicores, text) => {
    expect(formatCpu(millicores)).toBe(text);
  });

  test.each([
    [1024 * 1024 * 1024, '1Gi'],
    [1536 * 1024 * 1024, '1536Mi'],
    [88_617_123, '88617123'],
    [1000, '1k'],
    [1023, '1023'],
    [512 * 1024 * 1024, '512Mi'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(formatMemory(bytes)).toBe(text);
  });

  test('optipod pinned: 73847603 bytes times 1.2 are bytes, not thousandths', () => {
    expect(formatMemory(Math.trunc(73_847_603 * 1.2))).toBe('88617123');
  });

  test('for any amount, memory never ends in m and never loses a part of a byte', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e15, noNaN: true }), (bytes) => {
        const text = formatAmount('memory', bytes);
        expect(text).not.toMatch(/m$/);
        expect(text).toMatch(/^\d+(k|[KMGTPE]i)?$/);
      }),
      { numRuns: 300 },
    );
  });
});

import { expect, test } from 'vitest';
import { warningHeader } from './warning-header.ts';

test('each warning is told once, quoted', () => {
  expect(warningHeader([])).toBeUndefined();
  expect(warningHeader(['a "b" \\c', 'a "b" \\c', 'd'])).toBe('299 - "a \\"b\\" \\\\c", 299 - "d"');
});

test.each(['\x7f', 'a\nb', '\u0085', ''])('%j, which no header can hold, is not told', (warning) => {
  expect(warningHeader([warning])).toBeUndefined();
  expect(warningHeader([warning, 'a'])).toBe('299 - "a"');
});

test('other scripts are the bytes of UTF-8', () => {
  expect(Buffer.from(warningHeader(['größe→😀']) ?? '', 'latin1').toString()).toBe('299 - "größe→😀"');
});

test('what is too much is cut, and ends', () => {
  const few = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(512));
  expect(warningHeader(few)).toContain('7'.repeat(512));
  const cut = warningHeader([...few, 'more']);
  expect(cut).toMatch(/^299 - "0{256}", 299 - "1{256}", .+, 299 - "more"$/);
  const many = Array.from({ length: 100_000 }, (_, index) => `unknown field "spec.a${index}"`);
  expect(warningHeader(many)?.length).toBeLessThan(10_000);
  expect(warningHeader(['😀'.repeat(5_000)])).toHaveLength('299 - ""'.length + 256 * 4);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { oneOf, pageOf, pageRequest, searchWords } from './page-of.ts';

const query = (text: string): URLSearchParams => new URLSearchParams(text);

describe('query parameters', () => {
  test.each([
    ['', { page: 1, pageSize: 20 }],
    ['page=7&size=100', { page: 7, pageSize: 100 }],
    ['page=0&size=0', { page: 1, pageSize: 1 }],
    ['page=-1&size=1e9', { page: 1, pageSize: 20 }],
    ['page=99999999&size=9999999', { page: 1, pageSize: 200 }],
    ['page=a&size=', { page: 1, pageSize: 20 }],
  ])('%j', (text, expected) => {
    expect(pageRequest(query(text), 20)).toEqual(expected);
  });

  test('words are short and lower case', () => {
    expect(searchWords(query('q=%20Shop%20%20WEB%20'))).toEqual(['shop', 'web']);
    expect(searchWords(query(''))).toEqual([]);
    expect(searchWords(query(`q=${'a'.repeat(5000)}`))).toEqual(['a'.repeat(200)]);
  });

  test('of what is not accepted the first that is', () => {
    expect(oneOf('b', ['a', 'b'])).toBe('b');
    expect(oneOf('constructor', ['a', 'b'])).toBe('a');
    expect(oneOf(null, ['a', 'b'])).toBe('a');
  });
});

test('pages hold everything once, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (all, pageSize) => {
      const pages = Math.max(1, Math.ceil(all.length / pageSize));
      const seen = Array.from({ length: pages }, (_, index) => pageOf(all, { page: index + 1, pageSize }).items).flat();
      expect(seen).toEqual(all);
      expect(pageOf(all, { page: pages + 5, pageSize }).page).toBe(pages);
    }),
  );
});

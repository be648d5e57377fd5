import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prunedField } from './pruned-field.ts';

describe('prunedField', () => {
  test.each<[string, unknown, unknown, string | undefined]>([
    ['all is kept', { status: { a: 1 } }, { status: { a: 1 }, more: 2 }, undefined],
    ['a field is gone', { status: { a: 1, b: 2 } }, { status: { a: 1 } }, 'status.b'],
    ['a whole part is gone', { status: { a: { b: 1 } } }, { status: {} }, 'status.a'],
    ['deep within', { status: { a: { b: 1, c: 0 } } }, { status: { a: { b: 1 } } }, 'status.a.c'],
    ['another value is no loss', { a: 1 }, { a: '1' }, undefined],
    ['false and 0 are values', { a: false, b: 0 }, { a: false }, 'b'],
    ['null takes away', { a: null, b: undefined }, {}, undefined],
    ['within a list', { a: [{ b: 1 }, { b: 1, c: 2 }] }, { a: [{ b: 1 }, { b: 1 }] }, 'a.1.c'],
    ['lists that were merged are not compared', { a: [{ b: 1 }] }, { a: [{ c: 1 }, { b: 1 }] }, undefined],
    ['no object at all', 5, undefined, undefined],
  ])('%s', (_, sent, stored, expected) => {
    expect(prunedField(sent, stored)).toBe(expected);
  });

  test('for any object nothing is missing from itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(prunedField(value, structuredClone(value))).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });
});

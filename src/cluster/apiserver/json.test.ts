import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cloneJson, deepFreeze, equalJson, type Json, shareJson } from './json.ts';

const { json } = fc.letrec<{ json: Json; leaf: Json }>((tie) => ({
  leaf: fc.oneof(fc.constant(null), fc.boolean(), fc.integer({ min: 0, max: 2 }), fc.constantFrom('', 'a', 'b')),
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('json'), { maxKeys: 3 }),
  ),
}));

test.each(['constructor', 'toString', 'valueOf', '__proto__'])('a member named %s is one like any other', (name) => {
  const one: Json = { [name]: [] };
  expect(equalJson({}, one)).toBe(false);
  expect(equalJson(one, {})).toBe(false);
  expect(shareJson(deepFreeze<Json>(one), {})).toEqual({});
  expect(shareJson(deepFreeze<Json>({}), one)).toEqual(one);
});

describe('shareJson', () => {
  test('for any two values the result equals the second, and is the first where they are equal', () => {
    fc.assert(
      fc.property(json, json, fc.boolean(), (base, next, isFrozen) => {
        deepFreeze(base);
        const wanted = cloneJson(next);
        const shared = shareJson(base, isFrozen ? deepFreeze(next) : next);
        expect(equalJson(shared, wanted)).toBe(true);
        if (equalJson(base, wanted)) expect(shared).toBe(base);
      }),
      { numRuns: 500 },
    );
  });

  test('parts that stayed are those of the first', () => {
    const base = deepFreeze({ spec: { a: [{ name: 'x' }, { name: 'y' }] }, status: { phase: 'Pending' } });
    const shared = shareJson(base, { spec: { a: [{ name: 'x' }, { name: 'z' }] }, status: { phase: 'Pending' } });
    expect(shared).toEqual({ spec: { a: [{ name: 'x' }, { name: 'z' }] }, status: { phase: 'Pending' } });
    expect(shared.status).toBe(base.status);
    expect(shared.spec.a[0]).toBe(base.spec.a[0]);
    expect(shared.spec).not.toBe(base.spec);
  });

  test('a member taken away or added makes another object', () => {
    const base = deepFreeze<Json>({ a: 1, b: 2 });
    expect(shareJson(base, { a: 1 })).toEqual({ a: 1 });
    expect(shareJson(base, { a: 1, b: 2, c: 3 })).toEqual({ a: 1, b: 2, c: 3 });
    expect(shareJson(deepFreeze<Json>([1, 2]), [1])).toEqual([1]);
    expect(shareJson(deepFreeze<Json>([1]), { 0: 1 })).toEqual({ 0: 1 });
  });
});

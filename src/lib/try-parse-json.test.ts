import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tryParseJson } from './try-parse-json.ts';

test('for any JSON, the value it stands for', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.stringify(tryParseJson(text))).toBe(text);
    }),
  );
});

test('null is a value, and told apart from what is none', () => {
  expect(tryParseJson('null')).toBeNull();
});

test.each(['', ' ', '{', 'undefined', 'NaN', '<html></html>', "{'a':1}", '{"a":1} and more'])(
  '%j is no JSON',
  (text) => {
    expect(tryParseJson(text)).toBeUndefined();
  },
);

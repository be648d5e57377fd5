import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitJsonValues } from './json-values.ts';

describe('splitJsonValues', () => {
  test.each([
    ['nothing', '', [], ''],
    ['white space', ' \n', [], ''],
    ['one value', '{"a":[1,{}]}', ['{"a":[1,{}]}'], ''],
    ['a line each', '{"a":1}\n{"b":2}\n', ['{"a":1}', '\n{"b":2}'], ''],
    ['nothing in between', '{}[]{}', ['{}', '[]', '{}'], ''],
    ['brackets and quotes within texts', '{"}":"\\"{"}{"\\\\":"]"}', ['{"}":"\\"{"}', '{"\\\\":"]"}'], ''],
    ['what does not end', '{"a":1}\n{"b":[', ['{"a":1}'], '\n{"b":['],
    ['a text that does not end', '{"a":1}{"b":"}', ['{"a":1}'], '{"b":"}'],
    ['what closes and was not opened', '}{}', ['}', '{}'], ''],
    ['something else at the end', '{} x', ['{}'], ' x'],
  ])('%s', (_, text, values, rest) => {
    expect(splitJsonValues(text)).toEqual({ values, rest });
  });

  const container = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));

  test('for any values, however they are written and parted: each is found whole', () => {
    const separator = fc.constantFrom('', ' ', '\n', '\r\n\t');
    fc.assert(
      fc.property(fc.array(container), separator, fc.constantFrom(0, 2), (values, between, indent) => {
        const text = values.map((value) => JSON.stringify(value, undefined, indent)).join(between);
        expect(splitJsonValues(text).values.map((each) => JSON.parse(each))).toEqual(
          values.map((value) => JSON.parse(JSON.stringify(value))),
        );
      }),
    );
  });

  test('for any text: nothing of it is lost but white space at the end', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ' ', 'a') }), (text) => {
        const { values, rest } = splitJsonValues(text);
        expect([...values, rest].join('').trimEnd()).toBe(text.trimEnd());
      }),
    );
  });
});

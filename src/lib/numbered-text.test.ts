import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinNumbers, splitNumbers } from './numbered-text.ts';

test('texts that differ in their numbers alone have one pattern', () => {
  const texts = [90, 160_327_270.4].map((value) => splitNumbers(`["target",${value},"10 % more than 85m"]`));
  expect(texts.map(({ numbers }) => numbers)).toEqual(['90 10 85', '160327270.4 10 85']);
  expect(new Set(texts.map(({ pattern }) => pattern)).size).toBe(1);
});

test('a text without numbers is its own pattern, and so is one that has the sign for them', () => {
  for (const text of ['', 'none', 'a\u00001'])
    expect(splitNumbers(text)).toEqual({ pattern: text, numbers: undefined });
});

test('for any text, what is put together is what was split', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.double().map(String),
    fc.constantFrom('.', ' ', '\0', '٣', '1.', '.5'),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join('');
      expect(joinNumbers(splitNumbers(text))).toBe(text);
    }),
  );
});

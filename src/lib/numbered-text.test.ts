import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinNumbers, splitNumbers } from './numbered-text.ts';
import { packDigits } from './packed-digits.ts';

test('texts that differ in their numbers alone have one pattern', () => {
  const texts = [90, 160_327_270.4].map((value) => splitNumbers(`["target",${value},"10 % more than 85m"]`));
  expect(texts.map(({ numbers }) => numbers)).toEqual(['90 10 85', '160327270.4 10 85'].map(packDigits));
  expect(new Set(texts.map(({ pattern }) => pattern)).size).toBe(1);
});

test('a text without numbers is its own pattern, and so is one that has the sign for them', () => {
  for (const text of ['', 'none', 'a\u00001'])
    expect(splitNumbers(text)).toEqual({ pattern: text, numbers: undefined });
});

test.each([
  ['2026-01-31T08:05:09Z', 6],
  ['2026-01-31T08:05:09.007Z', 7],
  ['1969-12-31T23:59:59Z', 2],
  ['2026-02-30T08:05:09Z', 21],
])('of the time %s are kept %s characters: less than it has, unless no calendar has it', (time, kept) => {
  const split = splitNumbers(`at ${time}`);
  expect(split.pattern).toBe('at \0');
  expect(split.numbers).toHaveLength(kept);
  expect(joinNumbers(split)).toBe(`at ${time}`);
});

test('for any text, what is put together is what was split', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.double().map(String),
    fc.constantFrom('.', ' ', '\0', '٣', '1.', '.5', 'T', 'T1', 'Z'),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString().replace(/\.\d+Z/, 'Z')),
    fc.constantFrom('2026-02-30T08:05:09Z', '2026-01-31T24:00:00Z', '0000-00-00T00:00:00Z', 't1'),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join('');
      expect(joinNumbers(splitNumbers(text))).toBe(text);
    }),
  );
});

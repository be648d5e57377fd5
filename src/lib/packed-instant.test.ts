import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packInstant, unpackInstant } from './packed-instant.ts';

test('an instant that is not there stays so', () => {
  expect(unpackInstant(packInstant(undefined))).toBeUndefined();
});

test('whole seconds, as the API has them, are packed into whole numbers', () => {
  expect(packInstant(Date.parse('2026-01-31T12:00:07Z'))).toBe(1_769_860_807);
});

test('for any whole millisecond, what is unpacked is what was packed', () => {
  const furthest = 8.64e15 / 3;
  fc.assert(
    fc.property(fc.integer({ min: -furthest, max: furthest }), (at) => {
      expect(unpackInstant(packInstant(at))).toBe(at === 0 ? 0 : at);
    }),
  );
});

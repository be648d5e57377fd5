import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packNumbers, unpackNumbers } from './packed-numbers.ts';

test.each([
  [[], 0],
  [[0, 127], 2],
  [[128, 16_383], 4],
  [[16_384], 3],
  [[2 ** 35 - 1], 5],
  [[Number.MAX_SAFE_INTEGER], 8],
])('of %j as many bytes are kept: %i', (numbers, bytes) => {
  const packed = packNumbers(numbers);
  expect(packed).toHaveLength(bytes);
  expect(unpackNumbers(packed)).toEqual(numbers);
});

test('any whole numbers are what they were, those beyond 53 bits too', () => {
  const number = fc.oneof(fc.maxSafeNat(), fc.double({ min: 0, max: 1e300, noNaN: true }).map(Math.floor));
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      expect(unpackNumbers(packNumbers(numbers))).toEqual(numbers.map((each) => each + 0));
    }),
  );
});

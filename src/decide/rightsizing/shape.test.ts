import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noAdvice } from './advice.ts';
import { defaultPolicy } from './policy.ts';
import { confidenceOf, isShaped, roundUp, type ShapeInput, shape, untilTrusted } from './shape.ts';
import { DAY, unset } from './testing/profiles.ts';
import { aShapeInput } from './testing/shape-input.ts';

const input = (changes: Partial<ShapeInput> = {}): ShapeInput =>
  aShapeInput({ rules: { ...defaultPolicy.memory, bounds: { min: 50, max: 1000 } }, ...changes });

describe('confidence', () => {
  test.each<[string, Partial<ShapeInput>, number]>([
    ['a whole history', {}, 1],
    ['half of it', { historyMillis: DAY / 2 }, 0.5],
    ['none is asked for', { historyMillis: 0, minHistoryMillis: 0 }, 1],
    ['too few samples', { samples: 5, minSamples: 10 }, 0.5],
    ['none are asked for', { samples: 0, minSamples: 0 }, 1],
    ['they are not counted', { minSamples: 10 }, 1],
    ['the lesser counts', { historyMillis: DAY / 4, samples: 5, minSamples: 10 }, 0.25],
    ['more than enough is enough', { historyMillis: 9 * DAY, samples: 99, minSamples: 10 }, 1],
  ])('%s', (_, changes, expected) => {
    expect(confidenceOf(input(changes))).toBe(expected);
  });
});

describe('how long until it is trusted', () => {
  test.each<[string, Partial<ShapeInput>, number | undefined]>([
    ['a whole history', {}, 0],
    ['half of it', { historyMillis: DAY / 2 }, DAY / 2],
    ['samples at their pace', { samples: 11, minSamples: 21 }, DAY],
    ['the longer counts', { historyMillis: DAY / 4, samples: 11, minSamples: 12 }, (3 / 4) * DAY],
    ['samples that have no pace yet', { samples: 1, minSamples: 21 }, undefined],
    ['samples of one instant', { historyMillis: 0, minHistoryMillis: 0, samples: 2, minSamples: 3 }, undefined],
    ['samples that are not counted', { minSamples: 21 }, 0],
  ])('%s', (_, changes, expected) => {
    expect(untilTrusted(input(changes))).toBe(expected);
  });
});

describe('the ceiling', () => {
  test.each<[string, Partial<ShapeInput>, number]>([
    ['is the bound', {}, 1000],
    ['is a kept limit', { current: { ...unset, limit: 300 } }, 300],
    [
      'is not a limit that moves',
      {
        current: { ...unset, request: 100, limit: 300 },
        rules: { ...input().rules, limit: { policy: 'Ratio' } },
      },
      1000,
    ],
  ])('%s', (_, changes, expected) => {
    expect(shape(input(changes)).ceiling).toBe(expected);
  });

  test('a request above a kept limit is capped, and that is told', () => {
    const shaped = shape(input({ draft: { value: 400, notes: [] }, current: { ...unset, limit: 300 } }));
    expect(shaped.value).toBe(300);
    expect(shaped.notes.at(-1)).toMatchObject({ stage: 'limit', text: expect.stringContaining('caps the request') });
  });
});

test('advice without a value is not shaped', () => {
  expect(isShaped(shape(input()))).toBe(true);
  expect(isShaped(noAdvice('NoData', 'nothing'))).toBe(false);
});

test('for any value, rounding is up by less than one multiple', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.constantFrom(1, 10, 1024), (value, multiple) => {
      const rounded = roundUp(value, multiple);
      expect(rounded).toBeGreaterThanOrEqual(value - 1e-6 * multiple);
      expect(rounded).toBeLessThan(value + multiple);
      expect(rounded % multiple).toBe(0);
    }),
    { numRuns: 200 },
  );
});

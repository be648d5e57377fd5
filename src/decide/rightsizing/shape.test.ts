import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noAdvice } from './advice.ts';
import { defaultPolicy } from './policy.ts';
import { confidenceOf, isShaped, moveTo, roundUp, type ShapeInput, shape, untilTrusted } from './shape.ts';
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

describe('a limit that moves, under a request that rises from 100 to 200', () => {
  const limit = { policy: 'Multiplier', factor: 1.1 } as const;
  const limitOf = (changes: Partial<ShapeInput>, of: Partial<ShapeInput['current']> = {}): number | undefined => {
    const current = { request: 100, limit: 800, lastChangeAt: undefined, ...of };
    return shape(input({ draft: { value: 200, notes: [] }, current, rules: { ...input().rules, limit }, ...changes }))
      .limit;
  };

  test.each<[string, Partial<ShapeInput>, Partial<ShapeInput['current']>, number]>([
    ['follows it', {}, {}, 220],
    ['is not lowered by a short history', { historyMillis: DAY / 2 }, {}, 800],
    ['nor by too few samples', { samples: 1, minSamples: 10 }, {}, 800],
    ['nor by what little counts after a gap', { lookBack: { knownMillis: 1, neededMillis: DAY } }, {}, 800],
    ['nor where memory never falls', { safeFloorHold: 'MemoryDecreaseNotAllowed' }, {}, 800],
    ['nor in the pause between two decreases', {}, { lastChangeAt: 1 - DAY }, 800],
    ['but once that is over', {}, { lastChangeAt: -DAY }, 220],
    ['rises, whatever is known', { historyMillis: DAY / 2 }, { limit: 150 }, 275],
    ['of a request that has to fall stays', { historyMillis: DAY / 2 }, { request: 2000, limit: 4000 }, 4000],
    ['unless it is that request', { historyMillis: DAY / 2 }, { request: 2000, limit: 2000 }, 1100],
  ])('%s', (_, changes, of, expected) => {
    expect(limitOf(changes, of)).toBe(expected);
  });

  test('says why it stays, also where another stage lowers the request', () => {
    const current = { request: 100, limit: 800, lastChangeAt: undefined };
    const shaped = shape(
      input({ draft: { value: 200, notes: [] }, current, rules: { ...input().rules, limit }, historyMillis: DAY / 2 }),
    );
    expect(shaped.notes.at(-1)?.text).toBe('the limit stays at 800: not lowered by so little history');
    expect(moveTo(shaped, 'quota', 150, 'as much as there is').limit).toBe(800);
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

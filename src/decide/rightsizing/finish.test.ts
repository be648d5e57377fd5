import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Stage } from './advice.ts';
import { finish } from './finish.ts';
import { defaultPolicy } from './policy.ts';
import type { ShapeInput } from './shape.ts';
import { DAY, unset } from './testing/profiles.ts';
import { aShapeInput } from './testing/shape-input.ts';

const input = (given: Partial<ShapeInput> = {}): ShapeInput =>
  aShapeInput({
    rules: {
      ...defaultPolicy.memory,
      bounds: { min: 50, max: 1000 },
      change: { ...defaultPolicy.memory.change, minAmount: 1 },
    },
    now: 10 * DAY,
    ...given,
  });
const stagesOf = (given: Partial<ShapeInput>): Stage[] => finish(input(given)).notes.map(({ stage }) => stage);

describe('shared stages', () => {
  test.each<[string, Partial<ShapeInput>, Stage[], number]>([
    ['nothing to say but the change', {}, ['change'], 100],
    ['a fraction is rounded up', { draft: { value: 99.2, notes: [] } }, ['rounding', 'change'], 100],
    ['to whole tens', { draft: { value: 101, notes: [] }, roundTo: 10 }, ['rounding', 'change'], 110],
    ['half the history raises by a quarter', { historyMillis: DAY / 2 }, ['confidence', 'change'], 125],
    ['none by half', { historyMillis: 0 }, ['confidence', 'change'], 150],
    ['below the minimum', { draft: { value: 7, notes: [] } }, ['bounds', 'change'], 50],
    ['above the maximum', { draft: { value: 7000, notes: [] } }, ['bounds', 'change'], 1000],
    ['half down at most', { current: { ...unset, request: 400 } }, ['step', 'change'], 200],
    ['the bounds win over the step', { current: { ...unset, request: 5000 } }, ['step', 'change'], 1000],
    ['the limit caps', { current: { ...unset, limit: 80 } }, ['limit', 'change'], 80],
  ])('%s', (_name, given, stages, value) => {
    expect(stagesOf(given)).toEqual(stages);
    expect(finish(input(given)).request).toBe(value);
  });

  test('a gain too small holds the change back, and the value is still told', () => {
    const gainOf = () => ({ actual: 0.01, needed: 0.05 });
    const advice = finish(input({ current: { ...unset, request: 500 }, gainOf }));
    expect(advice).toMatchObject({ isDue: false, held: 'GainTooSmall', request: 250 });
  });

  test.each<[string, Partial<ShapeInput>, string | undefined]>([
    ['at the maximum', { draft: { value: 7000, notes: [] } }, 'AtMax'],
    ['at a limit that stays', { draft: { value: 100, notes: [] }, current: { ...unset, limit: 80 } }, 'AtLimit'],
    ['on its way down from above', { current: { ...unset, request: 400 } }, undefined],
  ])('what is needed and not to be had is told: %s', (_, given, expected) => {
    const { draft, ...rest } = given;
    const value = draft?.value ?? 100;
    expect(finish(input({ ...rest, draft: { value, notes: [{ stage: 'target', value, text: '' }] } })).capped).toBe(
      expected,
    );
  });

  test.each<[string, Partial<ShapeInput>, string, number | undefined]>([
    ['a short history', { historyMillis: DAY / 2, current: { ...unset, request: 900 } }, 'LowConfidence', 10.5 * DAY],
    ['a pause', { current: { request: 200, limit: undefined, lastChangeAt: 10 * DAY - 1 } }, 'Cooldown', 11 * DAY - 1],
    ['what is as it should be', { current: { ...unset, request: 100 } }, 'WithinMinChange', undefined],
  ])('when it is over is told of what time alone keeps back: %s', (_, given, held, readyAt) => {
    expect(finish(input(given))).toMatchObject({ isDue: false, held });
    expect(finish(input(given)).readyAt).toBe(readyAt);
  });

  test('for any draft, low confidence is never below full confidence', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 900 }),
        fc.nat(DAY),
        fc.option(fc.nat(2000), { nil: undefined }),
        (value, historyMillis, request) => {
          const given = { draft: { value, notes: [] }, current: { ...unset, request } };
          const low = finish(input({ ...given, historyMillis })).request ?? 0;
          const full = finish(input(given)).request ?? 0;
          expect(low).toBeGreaterThanOrEqual(full);
        },
      ),
      { numRuns: 200 },
    );
  });
});

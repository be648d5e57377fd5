import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allowedRange } from '../../model/size-bounds.ts';
import { aLimitRange, MIB } from '../../model/testing/sizing-records.ts';
import { fitLimitRange } from './limit-range-stage.ts';
import { defaultPolicy } from './policy.ts';
import { type Shaped, shape } from './shape.ts';
import { aShapeInput } from './testing/shape-input.ts';

const shaped = (
  value: number,
  limit?: number,
  bounds = { min: 1, max: 10_000 },
  rules = { ...defaultPolicy.cpu, bounds },
): Shaped =>
  shape(aShapeInput({ draft: { value, notes: [] }, current: { request: 500, limit, lastChangeAt: undefined }, rules }));

describe('LimitRanges', () => {
  test.each<[string, number, number | undefined, object, number]>([
    ['below the least', 50, undefined, { min: { cpu: 100 } }, 100],
    ['above the most', 3000, undefined, { max: { cpu: 2000 } }, 2000],
    ['within', 500, undefined, { min: { cpu: 100 }, max: { cpu: 2000 } }, 500],
    ['a kept limit is a fifth of what it may be', 100, 2000, { maxLimitRequestRatio: { cpu: 4 } }, 500],
  ])('%s', (_, value, limit, range, expected) => {
    const allowed = allowedRange([aLimitRange(range)], 'Container', 'cpu');
    const fitted = fitLimitRange(shaped(value, limit), 'cpu', allowed);
    expect(fitted.value).toBe(expected);
    const stages = fitted.notes.map(({ stage }) => stage);
    expect(stages.includes('limit-range')).toBe(expected !== value);
  });

  test.each<[string, number, number | undefined, number]>([
    ['above the limit that it gives', 900, undefined, 600],
    ['up to the limit that it gives', 600, undefined, 600],
    ['with a limit of its own', 900, 2000, 900],
  ])('a request %s', (_, value, limit, expected) => {
    const allowed = allowedRange([], 'Container', 'cpu');
    const fitted = fitLimitRange(shaped(value, limit), 'cpu', allowed, 600);
    const text = "the namespace's LimitRange gives it a limit of 600m, which caps the request";
    expect([fitted.value, fitted.notes.at(-1)?.text === text]).toEqual([expected, expected < value]);
    expect(fitted.ceiling).toBe(limit === undefined ? 600 : 2000);
  });

  test('a limit that it gives is no more than it may be of the request', () => {
    const allowed = allowedRange([aLimitRange({ maxLimitRequestRatio: { cpu: 4 } })], 'Container', 'cpu');
    expect(fitLimitRange(shaped(100), 'cpu', allowed, 600).value).toBe(150);
  });

  test('the bounds of the policy are not overstepped for it', () => {
    const allowed = allowedRange([aLimitRange({ min: { cpu: 900 } })], 'Container', 'cpu');
    expect(fitLimitRange(shaped(50, undefined, { min: 1, max: 400 }), 'cpu', allowed).value).toBe(400);
  });

  test('says what is allowed, in the unit of the resource', () => {
    const allowed = allowedRange(
      [aLimitRange({ min: { memory: 64 * MIB }, max: { memory: 512 * MIB } })],
      'Container',
      'memory',
    );
    expect(fitLimitRange(shaped(50), 'memory', allowed).notes.at(-1)?.text).toBe(
      "the namespace's LimitRange allows at least 64Mi, at most 512Mi",
    );
  });

  test('for any range and a limit that moves, request and limit are allowed together', () => {
    fc.assert(
      fc.property(
        fc.record({
          value: fc.integer({ min: 1, max: 9000 }),
          factor: fc.integer({ min: 1, max: 8 }),
          min: fc.integer({ min: 1, max: 3000 }),
          more: fc.nat(6000),
          ratio: fc.integer({ min: 1, max: 4 }),
        }),
        ({ value, factor, min, more, ratio }) => {
          const range = aLimitRange({
            min: { cpu: min },
            max: { cpu: min + more },
            maxLimitRequestRatio: { cpu: ratio },
          });
          const rules = {
            ...defaultPolicy.cpu,
            bounds: { min: 1, max: 10_000 },
            limit: { policy: 'Multiplier', factor } as const,
          };
          const fitted = fitLimitRange(
            shaped(value, 800, rules.bounds, rules),
            'cpu',
            allowedRange([range], 'Container', 'cpu'),
          );
          const limit = fitted.limit ?? 0;
          expect(fitted.value).toBeGreaterThanOrEqual(min);
          expect(limit).toBeGreaterThanOrEqual(fitted.value);
          expect(limit).toBeLessThanOrEqual(min + more);
          expect(limit).toBeLessThanOrEqual(ratio * fitted.value);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('for any range and value, the result is allowed wherever the policy lets it be', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9000 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.nat(5000),
        (value, min, more) => {
          const allowed = allowedRange(
            [aLimitRange({ min: { cpu: min }, max: { cpu: min + more } })],
            'Container',
            'cpu',
          );
          const fitted = fitLimitRange(shaped(value), 'cpu', allowed);
          expect(fitted.value).toBeGreaterThanOrEqual(min);
          expect(fitted.value).toBeLessThanOrEqual(min + more);
          expect(fitted.ceiling).toBeLessThanOrEqual(min + more);
        },
      ),
      { numRuns: 200 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bound, combineBounds } from './bounds.ts';
import { relaxToFit } from './relax.ts';

const seat = (uid: string, weight: number, claim: number, bounds: readonly Bound[], kept = 0) => ({
  uid,
  weight,
  box: combineBounds(claim, 2000, bounds),
  kept,
});
const step = (min: number): Bound => ({ layer: 'step', reason: 'StepLimit', min });
const pdb = (min: number): Bound => ({ layer: 'pdb', reason: 'PodDisruptionBudget', min });
const ready = (min: number): Bound => ({ layer: 'readiness', reason: 'Readiness', min });

describe('lower bounds that do not fit', () => {
  test('what fits stays', () => {
    expect(relaxToFit([seat('a', 1, 100, [step(400)]), seat('b', 1, 100, [pdb(300)])], 700)).toEqual({
      mins: [400, 300],
      clamps: [[], []],
    });
  });

  test('smoothness first, of the lowest weight, and only as far as needed', () => {
    const { mins, clamps } = relaxToFit([seat('a', 4, 100, [step(400)]), seat('b', 1, 100, [step(400)])], 650);
    expect(mins).toEqual([400, 250]);
    expect(clamps[1]).toEqual([{ reason: 'StepRelaxed', what: 'min', before: 400, after: 250 }]);
  });

  test('then budgets, then readiness; never the claim', () => {
    const seats = [seat('a', 1, 100, [pdb(400)]), seat('b', 1, 100, [ready(400)]), seat('c', 1, 300, [step(400)])];
    expect(relaxToFit(seats, 900).mins).toEqual([200, 400, 300]);
    expect(relaxToFit(seats, 700).mins).toEqual([100, 300, 300]);
    expect(relaxToFit(seats, 10).mins).toEqual([100, 100, 300]);
  });

  test('what is kept in any case stays, though the guard that keeps it would have to go first', () => {
    const seats = [seat('a', 1, 100, [pdb(400)], 350), seat('b', 1, 100, [ready(400)])];
    const { mins, clamps } = relaxToFit(seats, 500);
    expect(mins).toEqual([350, 150]);
    expect(clamps[0]).toEqual([{ reason: 'GuardRelaxed', what: 'min', before: 400, after: 350 }]);
    expect(relaxToFit(seats, 10).mins).toEqual([350, 100]);
  });

  test('who keeps more than it may have has that', () => {
    const most: Bound = { layer: 'annotation', reason: 'MaxCpu', max: 300 };
    expect(relaxToFit([seat('a', 1, 100, [most], 500)], 2000).mins).toEqual([500]);
  });

  test('under a guard that goes the next one shows', () => {
    expect(relaxToFit([seat('a', 1, 100, [ready(300), step(500)])], 350).mins).toEqual([350]);
    expect(relaxToFit([seat('a', 1, 100, [ready(300), step(500)])], 250).mins).toEqual([250]);
  });

  test('equal weights: the smaller uid gives first, whatever the order', () => {
    expect(relaxToFit([seat('b', 1, 100, [step(400)]), seat('a', 1, 100, [step(400)])], 700).mins).toEqual([400, 300]);
  });

  test('for any seats: at most the capacity, or exactly the claims and what is kept', () => {
    const amount = fc.integer({ min: 0, max: 800 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(amount, amount, amount, amount), { maxLength: 8 }),
        fc.integer({ min: 0, max: 4000 }),
        (rows, capacity) => {
          const seats = rows.map(([claim, guard, smooth, kept], index) =>
            seat(`p${index}`, 1 + (index % 3), claim, [pdb(guard), step(smooth)], kept),
          );
          const { mins } = relaxToFit(seats, capacity);
          const least = seats.map(({ box, kept }) => Math.max(box.claim, kept));
          const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
          expect(sum(mins)).toBeLessThanOrEqual(Math.max(capacity, sum(least)));
          mins.forEach((min, index) => {
            expect(min).toBeGreaterThanOrEqual(least[index] ?? 0);
          });
        },
      ),
      { numRuns: 500 },
    );
  });
});

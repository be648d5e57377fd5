import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bound, combineBounds } from './bounds.ts';
import { relaxToFit } from './relax.ts';

const seat = (uid: string, weight: number, claim: number, bounds: readonly Bound[]) => ({
  uid,
  weight,
  box: combineBounds(claim, 2000, bounds),
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

  test('under a guard that goes the next one shows', () => {
    expect(relaxToFit([seat('a', 1, 100, [ready(300), step(500)])], 350).mins).toEqual([350]);
    expect(relaxToFit([seat('a', 1, 100, [ready(300), step(500)])], 250).mins).toEqual([250]);
  });

  test('equal weights: the smaller uid gives first, whatever the order', () => {
    expect(relaxToFit([seat('b', 1, 100, [step(400)]), seat('a', 1, 100, [step(400)])], 700).mins).toEqual([400, 300]);
  });

  test('for any seats: at most the capacity, or exactly the claims', () => {
    const amount = fc.integer({ min: 0, max: 800 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(amount, amount, amount), { maxLength: 8 }),
        fc.integer({ min: 0, max: 4000 }),
        (rows, capacity) => {
          const seats = rows.map(([claim, guard, smooth], index) =>
            seat(`p${index}`, 1 + (index % 3), claim, [pdb(guard), step(smooth)]),
          );
          const { mins } = relaxToFit(seats, capacity);
          const sum = mins.reduce((all, min) => all + min, 0);
          const claims = seats.reduce((all, { box }) => all + box.claim, 0);
          expect(sum).toBeLessThanOrEqual(Math.max(capacity, claims));
          mins.forEach((min, index) => {
            expect(min).toBeGreaterThanOrEqual(seats[index]?.box.claim ?? 0);
          });
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** Random bargaining problems: crowded and empty nodes, wild weights, contradictory bounds. */
import fc from 'fast-check';
import type { Bid } from '../problem.ts';

export interface Instance {
  readonly capacity: number;
  readonly bids: readonly Bid[];
}

const weight = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 4, arbitrary: fc.double({ min: 1 / 64, max: 64, noNaN: true }) },
);
const positiveWeight = weight.map((value) => (value === 0 ? 1 : value));

const bidOf = (weights: fc.Arbitrary<number>) =>
  fc.record({
    weight: weights,
    min: fc.integer({ min: 0, max: 600 }),
    room: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 2500 }) },
      { weight: 2, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
      { weight: 1, arbitrary: fc.integer({ min: -300, max: -1 }) },
    ),
  });

const instanceOf = (weights: fc.Arbitrary<number>, least: number): fc.Arbitrary<Instance> =>
  fc
    .record({
      capacity: fc.integer({ min: 0, max: 5000 }),
      rows: fc.array(bidOf(weights), { minLength: least, maxLength: 12 }),
    })
    .map(({ capacity, rows }) => ({
      capacity,
      bids: rows.map(({ weight: w, min, room }, index) => ({
        uid: `pod-${String(index).padStart(2, '0')}`,
        weight: w,
        min,
        max: Math.max(0, min + room),
      })),
    }));

export const anyInstance = instanceOf(weight, 0);
/** At least one bid, all of positive weight. */
export const weightedInstance = instanceOf(positiveWeight, 1);
/** At least one bid. */
export const filledInstance = instanceOf(weight, 1);

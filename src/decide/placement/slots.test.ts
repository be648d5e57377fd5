import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countsFor, floorCount, onDemandCount, type SlotRule, sideOfSlot, spotCount, spotSlotsOf } from './slots.ts';

const rule = (spotPercentage: number, min: number, changes: Partial<SlotRule> = {}): SlotRule => ({
  spotPercentage,
  minOnDemand: { kind: 'count', count: min },
  rounding: 'ceil',
  basis: 'total',
  ...changes,
});
const percentFloor = (percent: number): Pick<SlotRule, 'minOnDemand'> => ({
  minOnDemand: { kind: 'percent', percent },
});

const anyRule = fc.record<SlotRule>({
  spotPercentage: fc.integer({ min: 0, max: 100 }),
  minOnDemand: fc.oneof(
    fc.integer({ min: 0, max: 60 }).map((count) => ({ kind: 'count' as const, count })),
    fc.integer({ min: 0, max: 100 }).map((percent) => ({ kind: 'percent' as const, percent })),
  ),
  rounding: fc.constantFrom('ceil', 'floor'),
  basis: fc.constantFrom('total', 'aboveBase'),
});
const anyCount = fc.integer({ min: 0, max: 400 });

describe('spotCount and onDemandCount', () => {
  // Columns: replicas, percentage, floor, [spot, on-demand] rounded down, the same rounded up.
  test.each<[number, number, number, [number, number], [number, number]]>([
    [0, 70, 1, [0, 0], [0, 0]],
    [1, 50, 0, [0, 1], [1, 0]],
    [1, 100, 0, [1, 0], [1, 0]],
    [1, 100, 1, [0, 1], [0, 1]],
    [3, 33, 0, [0, 3], [1, 2]],
    [3, 34, 0, [1, 2], [2, 1]],
    [3, 80, 2, [1, 2], [1, 2]],
    [3, 70, 3, [0, 3], [0, 3]],
    [5, 0, 1, [0, 5], [0, 5]],
    [5, 80, 2, [3, 2], [3, 2]],
    [5, 80, 4, [1, 4], [1, 4]],
    [7, 50, 1, [3, 4], [4, 3]],
    [8, 75, 2, [6, 2], [6, 2]],
    [10, 70, 1, [7, 3], [7, 3]],
    [10, 73, 1, [7, 3], [8, 2]],
    [10, 75, 0, [7, 3], [8, 2]],
    [10, 99, 0, [9, 1], [10, 0]],
    [10, 100, 0, [10, 0], [10, 0]],
    [10, 80, 3, [7, 3], [7, 3]],
    [10, 90, 4, [6, 4], [6, 4]],
    [99, 1, 0, [0, 99], [1, 98]],
  ])('case 15: %i replicas, %i %%, floor %i: %j down, %j up', (replicas, percentage, min, down, up) => {
    const at = (rounding: 'floor' | 'ceil'): [number, number] => {
      const { spot, onDemand } = countsFor(rule(percentage, min, { rounding }), replicas);
      return [spot, onDemand];
    };
    expect([at('floor'), at('ceil')]).toEqual([down, up]);
  });

  test.each([
    [2, 50, 3],
    [2, 70, 5],
    [0, 100, 4],
    [1, 100, 10_000],
  ])(
    'case 16: hazard H4: %i replicas, %i %%, floor %i above them: all on on-demand, none negative',
    (replicas, percentage, min) => {
      expect(countsFor(rule(percentage, min), replicas)).toEqual({ spot: 0, onDemand: replicas });
    },
  );

  test('case 17: both counts are at least 0, add up, and keep the floor', () => {
    fc.assert(
      fc.property(anyRule, anyCount, (any, k) => {
        const spot = spotCount(any, k);
        const onDemand = onDemandCount(any, k);
        expect(spot).toBeGreaterThanOrEqual(0);
        expect(spot + onDemand).toBe(k);
        expect(onDemand).toBeGreaterThanOrEqual(floorCount(any, k));
        expect(Number.isInteger(spot)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test('both counts grow by 0 or 1 with each replica, also for a floor in percent and above the base', () => {
    fc.assert(
      fc.property(anyRule, anyCount, (any, k) => {
        expect([0, 1]).toContain(spotCount(any, k + 1) - spotCount(any, k));
        expect([0, 1]).toContain(onDemandCount(any, k + 1) - onDemandCount(any, k));
      }),
      { numRuns: 5000 },
    );
  });

  test('rounding up gives at most one more spot replica than rounding down, never fewer', () => {
    fc.assert(
      fc.property(anyRule, anyCount, (any, k) => {
        const difference = spotCount({ ...any, rounding: 'ceil' }, k) - spotCount({ ...any, rounding: 'floor' }, k);
        expect([0, 1]).toContain(difference);
      }),
      { numRuns: 1000 },
    );
  });

  test('no fraction is lost: 29 % of 100 is 29 although 0.29 * 100 is less in floating point', () => {
    expect(spotCount(rule(29, 0, { rounding: 'floor' }), 100)).toBe(29);
    expect(spotCount(rule(7, 0), 100)).toBe(7);
  });

  test('above the base: EC2 Auto Scaling takes 70 % of what is above a base of 2 out of 10', () => {
    expect(countsFor(rule(70, 2, { basis: 'aboveBase' }), 10)).toEqual({ spot: 6, onDemand: 4 });
    expect(countsFor(rule(70, 2, { basis: 'aboveBase', rounding: 'floor' }), 10)).toEqual({ spot: 5, onDemand: 5 });
    expect(countsFor(rule(70, 12, { basis: 'aboveBase' }), 10)).toEqual({ spot: 0, onDemand: 10 });
  });
});

describe('floorCount', () => {
  test.each([
    [0, 0],
    [1, 1],
    [3, 1],
    [4, 2],
    [10, 3],
    [11, 4],
  ])('30 %% of %i replicas is %i, rounded up', (replicas, expected) => {
    expect(floorCount(rule(100, 0, percentFloor(30)), replicas)).toBe(expected);
  });

  test('is never more than the replicas', () => {
    expect(floorCount(rule(0, 5), 3)).toBe(3);
    expect(floorCount(rule(0, 0, percentFloor(100)), 3)).toBe(3);
  });
});

describe('sideOfSlot', () => {
  const order = (any: SlotRule, replicas: number): string =>
    Array.from({ length: replicas }, (_, index) => (sideOfSlot(any, index + 1) === 'spot' ? 's' : 'o')).join('');

  test.each([
    [70, 1, 10, 'ossossosss'],
    [60, 1, 5, 'ososs'],
    [60, 0, 5, 'ososs'],
    [0, 2, 4, 'oooo'],
    [100, 0, 3, 'sss'],
  ])(
    '%i %% with floor %i rounded down fills %i slots in the order in which Spotalis admits: %s',
    (percentage, min, replicas, expected) => {
      expect(order(rule(percentage, min, { rounding: 'floor' }), replicas)).toBe(expected);
    },
  );

  test('the floor comes first: 100 % above 3', () => {
    expect(order(rule(100, 3), 6)).toBe('ooosss');
  });

  test('a slot keeps its side whatever the number of replicas', () => {
    fc.assert(
      fc.property(anyRule, fc.integer({ min: 1, max: 120 }), fc.integer({ min: 0, max: 120 }), (any, slot, more) => {
        const spotAmong = (k: number): number =>
          Array.from({ length: k }, (_, index) => sideOfSlot(any, index + 1)).filter((side) => side === 'spot').length;
        expect(spotAmong(slot + more)).toBe(spotCount(any, slot + more));
      }),
      { numRuns: 1000 },
    );
  });

  test('bug 2: a floor of 3 on any number of replicas from 1 to 12', () => {
    for (let replicas = 1; replicas <= 12; replicas++) {
      expect(countsFor(rule(100, 3), replicas).onDemand).toBe(Math.min(3, replicas));
    }
  });
});

test('spotSlotsOf marks the same slots as sideOfSlot', () => {
  fc.assert(
    fc.property(anyRule, fc.integer({ min: 0, max: 80 }), (any, replicas) => {
      const marks = [...spotSlotsOf(any, replicas)];
      expect(marks).toHaveLength(replicas + 1);
      marks.forEach((mark, slot) => {
        if (slot > 0) expect(mark === 1).toBe(sideOfSlot(any, slot) === 'spot');
      });
    }),
    { numRuns: 1000 },
  );
});

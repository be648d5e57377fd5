import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proportionalSizes, rollingBounds, rollingUpdateStep, type SetSize } from './rolling-update.ts';

const set = (name: string, replicas: number, available = replicas, more: Partial<SetSize> = {}): SetSize => ({
  name,
  replicas,
  available,
  createdAt: 0,
  annotatedMaxReplicas: undefined,
  ...more,
});

describe('rollingBounds', () => {
  test.each([
    [40, '25%', '25%', 10, 10],
    [10, '25%', '25%', 3, 2],
    [4, undefined, undefined, 1, 1],
    [1, '25%', '25%', 1, 0],
    [10, 0, 0, 0, 1],
    [3, 0, '10%', 0, 1],
    [2, 5, 5, 5, 2],
    [0, '25%', '25%', 0, 1],
  ])(
    '%i replicas, surge %s, unavailable %s: %i and %i pods',
    (replicas, surge, unavailable, maxSurge, maxUnavailable) => {
      expect(rollingBounds(replicas, surge, unavailable)).toEqual({ replicas, maxSurge, maxUnavailable });
    },
  );
});

describe('rollingUpdateStep', () => {
  const bounds = rollingBounds(40, '25%', '25%');
  test('grows the new set into the surge first', () => {
    expect(rollingUpdateStep(bounds, set('new', 0), [set('old', 40)])).toEqual(new Map([['new', 10]]));
  });
  test('then takes old pods away as far as availability allows', () => {
    expect(rollingUpdateStep(bounds, set('new', 10, 0), [set('old', 40)])).toEqual(new Map([['old', 30]]));
  });
  test('waits while new pods are not available', () => {
    expect(rollingUpdateStep(bounds, set('new', 20, 0), [set('old', 30)])).toEqual(new Map());
  });
  test('unavailable old pods go first and cost nothing', () => {
    const steps = rollingUpdateStep(rollingBounds(4, 1, 0), set('new', 1, 0), [set('old', 4, 2)]);
    expect(steps).toEqual(new Map());
    expect(rollingUpdateStep(rollingBounds(4, 1, 1), set('new', 1, 1), [set('old', 4, 2)])).toEqual(
      new Map([['old', 2]]),
    );
  });
  test('takes from the oldest set first', () => {
    const old = [set('b', 3, 3, { createdAt: 2 }), set('a', 2, 2, { createdAt: 1 })];
    expect(rollingUpdateStep(rollingBounds(5, 0, 2), set('new', 0), old)).toEqual(new Map([['a', 0]]));
  });
  test('shrinks a new set that is too large', () => {
    expect(rollingUpdateStep(rollingBounds(3, 1, 0), set('new', 5), [])).toEqual(new Map([['new', 3]]));
  });
  test('ends with nothing to do', () => {
    expect(rollingUpdateStep(bounds, set('new', 40), [set('old', 0)])).toEqual(new Map());
  });

  test('for any bounds and any order of pods becoming available, a rollout ends within its bounds', () => {
    const bound = fc.oneof(
      fc.nat(6),
      fc.nat(100).map((percent) => `${percent}%`),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        bound,
        bound,
        fc.infiniteStream(fc.nat(3)),
        (replicas, surge, unavailable, luck) => {
          const limits = rollingBounds(replicas, surge, unavailable);
          let next = set('new', 0);
          let old = set('old', replicas);
          for (let step = 0; step < 500; step++) {
            const sizes = rollingUpdateStep(limits, next, [old]);
            next = { ...next, replicas: sizes.get('new') ?? next.replicas };
            const oldSize = sizes.get('old') ?? old.replicas;
            old = { ...old, replicas: oldSize, available: Math.min(old.available, oldSize) };
            expect(next.replicas + old.replicas).toBeLessThanOrEqual(replicas + limits.maxSurge);
            expect(next.available + old.available).toBeGreaterThanOrEqual(replicas - limits.maxUnavailable);
            const ready = luck.next().value ?? 1;
            next = { ...next, available: Math.min(next.replicas, next.available + ready + (step % 7 === 0 ? 1 : 0)) };
          }
          expect([next.replicas, old.replicas]).toEqual([replicas, 0]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('proportionalSizes', () => {
  test('shares a scale-up in the middle of a rollout by size', () => {
    const sets = [
      set('old', 8, 8, { annotatedMaxReplicas: 13, createdAt: 1 }),
      set('new', 5, 5, { annotatedMaxReplicas: 13, createdAt: 2 }),
    ];
    expect(proportionalSizes(rollingBounds(15, 3, 2), sets, 13)).toEqual(
      new Map([
        ['old', 11],
        ['new', 7],
      ]),
    );
  });
  test('shares a scale-down likewise', () => {
    const sets = [set('old', 8, 8, { annotatedMaxReplicas: 13 }), set('new', 5, 5, { annotatedMaxReplicas: 13 })];
    const sizes = proportionalSizes(rollingBounds(5, 3, 2), sets, 13);
    expect((sizes.get('old') ?? 8) + (sizes.get('new') ?? 5)).toBe(8);
  });
  test('empties everything for zero replicas', () => {
    expect(proportionalSizes(rollingBounds(0, '25%', '25%'), [set('a', 3), set('b', 2)], 5)).toEqual(
      new Map([
        ['a', 0],
        ['b', 0],
      ]),
    );
  });
  test('for any sets the sizes add up to replicas plus surge', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 100 }),
        fc.nat(10),
        (sizes, replicas, surge) => {
          const total = sizes.reduce((sum, size) => sum + size, 0);
          const sets = sizes.map((size, index) =>
            set(`s${index}`, size, size, { annotatedMaxReplicas: total, createdAt: index }),
          );
          const result = proportionalSizes({ replicas, maxSurge: surge, maxUnavailable: 0 }, sets, total);
          const after = sets.map((each) => result.get(each.name) ?? each.replicas);
          expect(after.every((size) => size >= 0)).toBe(true);
          const sum = after.reduce((left, right) => left + right, 0);
          if (after[0] !== 0) expect(sum).toBe(replicas + surge);
        },
      ),
    );
  });
});

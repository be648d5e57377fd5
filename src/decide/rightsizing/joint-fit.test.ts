import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aQuota } from '../../model/testing/sizing-records.ts';
import { capRoom, type FitPart, fitTogether, type QuotaSharers, quotaRoom, type Room } from './joint-fit.ts';
import { defaultPolicy } from './policy.ts';
import { shape } from './shape.ts';
import { DAY } from './testing/profiles.ts';

const part = (current: number, value: number | undefined): FitPart => ({
  current,
  shaped:
    value === undefined
      ? undefined
      : shape({
          draft: { value, notes: [] },
          current: { request: current, limit: undefined, lastChangeAt: undefined },
          rules: { ...defaultPolicy.cpu, bounds: { min: 1, max: 100_000 } },
          historyMillis: DAY,
          minHistoryMillis: DAY,
          roundTo: 1,
          leastLimit: 0,
          now: 0,
          gainOf: undefined,
        }),
});
const room = (growth: number): Room => ({ growth, stage: 'quota', what: 'the quota ends here' });
const values = (parts: readonly FitPart[]) => parts.map(({ shaped, current }) => shaped?.value ?? current);

describe('what containers may have together', () => {
  test.each<[string, FitPart[], number, number[]]>([
    ['enough for all', [part(100, 200), part(100, 150)], 150, [200, 150]],
    ['raises give way in proportion', [part(100, 300), part(100, 200)], 150, [200, 150]],
    ['what one frees another may have', [part(500, 300), part(100, 300)], 0, [300, 300]],
    ['nothing may grow', [part(100, 300)], -50, [100]],
    [
      'what is freed goes to no one where there is less than no room',
      [part(500, 300), part(100, 300)],
      -250,
      [300, 100],
    ],
    ['nothing grows, and there is less than no room', [part(500, 400)], -250, [400]],
    ['a container without advice stays', [part(100, undefined), part(100, 300)], 100, [100, 200]],
  ])('%s', (_, parts, growth, expected) => {
    expect(values(fitTogether(parts, room(growth)))).toEqual(expected);
  });

  test('only those that had to give way say so', () => {
    const [down, up] = fitTogether([part(500, 400), part(100, 600)], room(0));
    expect(down?.shaped?.notes).toEqual([]);
    expect(up?.shaped?.notes.at(-1)).toEqual({ stage: 'quota', value: 200, text: 'the quota ends here' });
  });

  test('a cap on the sum counts what the others have', () => {
    expect(capRoom([part(100, 200), part(300, undefined)], 1000, 'node-size', 'x').growth).toBe(600);
  });

  test('for any values and room, the sum stays within it and nothing falls for the sake of another', () => {
    const anyPart = fc.tuple(fc.nat(5000), fc.option(fc.integer({ min: 1, max: 9000 }), { nil: undefined }));
    fc.assert(
      fc.property(
        fc.array(anyPart, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: -3000, max: 9000 }),
        (all, growth) => {
          const parts = all.map(([current, value]) => part(current, value));
          const fitted = values(fitTogether(parts, room(growth)));
          const before = values(parts);
          const grown = fitted.reduce((sum, value, index) => sum + value - (all[index]?.[0] ?? 0), 0);
          const freed = before.reduce((sum, value, index) => sum + Math.min(0, value - (all[index]?.[0] ?? 0)), 0);
          expect(grown).toBeLessThanOrEqual(Math.max(growth, freed));
          fitted.forEach((value, index) => {
            expect(value).toBeGreaterThanOrEqual(Math.min(before[index] ?? 0, all[index]?.[0] ?? 0));
            expect(value).toBeLessThanOrEqual(Math.max(before[index] ?? 0, all[index]?.[0] ?? 0));
          });
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('quotas', () => {
  /** All have the same, and nothing is under way. */
  const alike = (replicas: number): QuotaSharers => ({ replicas, current: 100, held: undefined });

  test('all replicas grow alike', () => {
    const quota = aQuota({ hard: { cpuRequest: 4000 }, used: { cpuRequest: 1000 } });
    expect(quotaRoom([quota], 'cpu', alike(3))).toMatchObject({ growth: 1000, stage: 'quota' });
    expect(quotaRoom([quota], 'memory', alike(3))).toBeUndefined();
  });

  test('the tightest counts and names itself', () => {
    const tight = aQuota({ name: 'tight', hard: { cpuRequest: 1300 }, used: { cpuRequest: 1000 } });
    const found = quotaRoom([aQuota(), tight, aQuota({ name: 'wide' })], 'cpu', alike(3));
    expect(found?.growth).toBe(100);
    expect(found?.what).toContain('ResourceQuota tight leaves 300m of requests.cpu');
  });

  test('what does not go round is left over, and what is used up leaves nothing', () => {
    const of = (hard: number, used: number | undefined) =>
      quotaRoom(
        [aQuota({ hard: { cpuRequest: hard }, used: used === undefined ? {} : { cpuRequest: used } })],
        'cpu',
        alike(3),
      );
    expect(of(4000, 2000)?.growth).toBe(666);
    expect(of(4000, undefined)?.growth).toBe(1333);
    expect(of(1000, 2000)).toMatchObject({ growth: -334, what: expect.stringContaining('leaves 0') });
  });

  test('a workload of no replicas may grow by all that is left', () => {
    expect(
      quotaRoom([aQuota({ hard: { cpuRequest: 4000 }, used: { cpuRequest: 1000 } })], 'cpu', alike(0))?.growth,
    ).toBe(3000);
  });

  test('for any number that has been given its part, and whether or not that is in force, the part of each is the same', () => {
    const [replicas, before, others, hard] = [6, 100, 300, 2700];
    for (let given = 0; given <= replicas; given++) {
      for (const current of [before, 400]) {
        const held = given * 400 + (replicas - given) * before;
        const quota = aQuota({ hard: { cpuRequest: hard }, used: { cpuRequest: others + held } });
        expect(current + (quotaRoom([quota], 'cpu', { replicas, current, held })?.growth ?? 0)).toBe(400);
      }
    }
  });

  test('pods that are yet to be made have their part kept', () => {
    const quota = aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 200 } });
    expect(quotaRoom([quota], 'cpu', { replicas: 4, current: 100, held: 200 })?.growth).toBe(150);
    expect(quotaRoom([quota], 'cpu', { replicas: 20, current: 100, held: 200 })?.growth).toBe(-50);
  });

  test('quotas of other pods do not count', () => {
    expect(quotaRoom([aQuota({ scopes: ['BestEffort'] })], 'cpu', alike(1))).toBeUndefined();
    expect(quotaRoom([aQuota({ scopes: ['PriorityClass'] })], 'cpu', alike(1))).toBeUndefined();
    expect(quotaRoom([aQuota({ scopes: ['NotBestEffort', 'NotTerminating'] })], 'cpu', alike(1))).toBeDefined();
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noUse } from '../../model/size-bounds.ts';
import { aQuota } from '../../model/testing/sizing-records.ts';
import {
  capRoom,
  type FitPart,
  fitLimits,
  fitTogether,
  type PromisedUse,
  type QuotaPromises,
  type QuotaSharers,
  quotaRoom,
  type Room,
} from './joint-fit.ts';
import { defaultPolicy, type LimitRule } from './policy.ts';
import { shape } from './shape.ts';
import { aShapeInput } from './testing/shape-input.ts';

const part = (current: number, value: number | undefined): FitPart => ({
  current,
  shaped:
    value === undefined
      ? undefined
      : shape(
          aShapeInput({
            draft: { value, notes: [] },
            current: { request: current, limit: undefined, lastChangeAt: undefined },
          }),
        ),
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
    expect(quotaRoom([quota], 'cpuRequest', alike(3))).toMatchObject({ growth: 1000, stage: 'quota' });
    expect(quotaRoom([quota], 'memoryRequest', alike(3))).toBeUndefined();
  });

  test('the tightest counts and names itself', () => {
    const tight = aQuota({ name: 'tight', hard: { cpuRequest: 1300 }, used: { cpuRequest: 1000 } });
    const found = quotaRoom([aQuota(), tight, aQuota({ name: 'wide' })], 'cpuRequest', alike(3));
    expect(found?.growth).toBe(100);
    expect(found?.what).toContain('ResourceQuota tight leaves 300m of requests.cpu');
  });

  test('what does not go round is left over, and what is used up leaves nothing', () => {
    const of = (hard: number, used: number | undefined) =>
      quotaRoom(
        [aQuota({ hard: { cpuRequest: hard }, used: used === undefined ? {} : { cpuRequest: used } })],
        'cpuRequest',
        alike(3),
      );
    expect(of(4000, 2000)?.growth).toBe(666);
    expect(of(4000, undefined)?.growth).toBe(1333);
    expect(of(1000, 2000)).toMatchObject({ growth: -334, what: expect.stringContaining('leaves 0') });
  });

  test('a workload of no replicas may grow by all that is left', () => {
    expect(
      quotaRoom([aQuota({ hard: { cpuRequest: 4000 }, used: { cpuRequest: 1000 } })], 'cpuRequest', alike(0))?.growth,
    ).toBe(3000);
  });

  test('for any number that has been given its part, and whether or not that is in force, the part of each is the same', () => {
    const [replicas, before, others, hard] = [6, 100, 300, 2700];
    for (let given = 0; given <= replicas; given++) {
      for (const current of [before, 400]) {
        const held = given * 400 + (replicas - given) * before;
        const quota = aQuota({ hard: { cpuRequest: hard }, used: { cpuRequest: others + held } });
        expect(current + (quotaRoom([quota], 'cpuRequest', { replicas, current, held })?.growth ?? 0)).toBe(400);
      }
    }
  });

  test('pods that are yet to be made have their part kept', () => {
    const quota = aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 200 } });
    expect(quotaRoom([quota], 'cpuRequest', { replicas: 4, current: 100, held: 200 })?.growth).toBe(150);
    expect(quotaRoom([quota], 'cpuRequest', { replicas: 20, current: 100, held: 200 })?.growth).toBe(-50);
  });

  test('quotas of other pods do not count', () => {
    expect(quotaRoom([aQuota({ scopes: ['BestEffort'] })], 'cpuRequest', alike(1))).toBeUndefined();
    expect(quotaRoom([aQuota({ scopes: ['PriorityClass'] })], 'cpuRequest', alike(1))).toBeUndefined();
    expect(quotaRoom([aQuota({ scopes: ['NotBestEffort', 'NotTerminating'] })], 'cpuRequest', alike(1))).toBeDefined();
  });

  test('of limits the room is told alike', () => {
    const quota = aQuota({ hard: { cpuLimit: 900 }, used: { cpuLimit: 600 } });
    expect(quotaRoom([quota], 'cpuLimit', alike(3))).toMatchObject({ growth: 100 });
    expect(quotaRoom([quota], 'cpuLimit', alike(3))?.what).toContain('leaves 300m of limits.cpu for 3 pods');
  });

  test('where it is known which pods they are, all quotas that count them do, and no others', () => {
    const like = { qos: 'Burstable', priorityClassName: 'high' } as const;
    const roomOf = (scope: string) =>
      quotaRoom([aQuota({ scopes: [scope] })], 'cpuRequest', { ...alike(1), like }) !== undefined;
    const scopes = ['PriorityClass In high', 'PriorityClass In low', 'BestEffort', 'Terminating', 'NotTerminating'];
    expect(scopes.filter(roomOf)).toEqual(['PriorityClass In high', 'NotTerminating']);
  });

  test('what others have been promised is theirs, of the quotas that count them', () => {
    const quota = aQuota({ hard: { cpuRequest: 4000 }, used: { cpuRequest: 1000 } });
    const promised = (priorityClassName: string | undefined): PromisedUse => ({
      growth: { ...noUse, cpuRequest: 900 },
      awaited: undefined,
      like: priorityClassName === undefined ? undefined : { qos: 'Burstable', priorityClassName },
    });
    const growth = (all: readonly PromisedUse[], scopes?: readonly string[]) =>
      quotaRoom([{ ...quota, scopes }], 'cpuRequest', {
        ...alike(3),
        like: { qos: 'Burstable', priorityClassName: 'high' },
        promises: { promised: all, returning: noUse },
      })?.growth;
    expect(growth([promised('high')])).toBe(700);
    const told = quotaRoom([quota], 'cpuRequest', {
      ...alike(3),
      promises: { promised: [promised('high')], returning: noUse },
    })?.what;
    expect(told).toBe(
      'ResourceQuota compute leaves 2100m of requests.cpu for 3 pods beside 900m that it keeps for others: raise it to grant more',
    );
    expect(growth([promised('high'), promised('low')])).toBe(400);
    expect(growth([promised('high'), promised('low')], ['PriorityClass In high'])).toBe(700);
    expect(growth([promised(undefined)], ['PriorityClass In high'])).toBe(700);
  });

  test('what others are promised for pods that are missing is kept as far as it is of use to them', () => {
    const growthFor = (count: number, cpuRequest: number) => {
      const each = { ...noUse, cpuRequest };
      const awaited = { count, each, least: each, returning: noUse, like: undefined };
      const promised = [{ growth: { ...noUse, cpuRequest: 600 }, awaited, like: undefined }];
      const quota = aQuota({ hard: { cpuRequest: 4000 }, used: { cpuRequest: 1000 } });
      return quotaRoom([quota], 'cpuRequest', { ...alike(1), promises: { promised, returning: noUse } })?.growth;
    };
    expect(growthFor(2, 500)).toBe(1400);
    expect(growthFor(99, 500)).toBe(400);
    expect(growthFor(1, 2500)).toBe(2400);
  });

  test('what goes back before they are made counts for whether there is room for pods that are missing', () => {
    const each = { ...noUse, cpuRequest: 100 };
    const awaited = { count: 1, each, least: each, returning: noUse, like: undefined };
    const promises = { promised: [{ growth: noUse, awaited, like: undefined }], returning: noUse };
    const quota = aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 1000 } });
    const roomFor = (held: number, changes: Partial<QuotaPromises> = {}) =>
      quotaRoom([quota], 'cpuRequest', { replicas: 1, current: 100, held, promises: { ...promises, ...changes } })
        ?.growth;
    // The pod and its predecessor, which is on its way out.
    expect([roomFor(190), roomFor(200), roomFor(250)]).toEqual([90, 0, 50]);
    // Others are on their way out as well.
    expect(roomFor(190, { returning: { ...noUse, cpuRequest: 10 } })).toBe(-10);
  });
});

describe('limits that follow their requests', () => {
  const shapedTo = (value: number, limit: LimitRule, currentLimit = 400): FitPart => ({
    current: 100,
    shaped: shape(
      aShapeInput({
        draft: { value, notes: [] },
        current: { request: 100, limit: currentLimit, lastChangeAt: undefined },
        rules: { ...defaultPolicy.cpu, bounds: { min: 1, max: 100_000 }, limit },
      }),
    ),
  });
  const limits = (parts: readonly FitPart[]) => parts.map(({ shaped }) => shaped?.limit);
  const ratio: LimitRule = { policy: 'Ratio' };

  test.each<[string, FitPart[], number, number[], (number | undefined)[]]>([
    ['there is enough', [shapedTo(300, ratio)], 800, [300], [1200]],
    ['requests go as far as their limits may', [shapedTo(300, ratio)], 400, [200], [800]],
    ['raises give way in proportion', [shapedTo(300, ratio), shapedTo(200, ratio)], 600, [200, 150], [800, 600]],
    ['nothing is left, or less', [shapedTo(300, ratio)], -50, [100], [400]],
    ['what one frees another may have', [shapedTo(50, ratio), shapedTo(300, ratio)], 0, [50, 150], [200, 600]],
    ['what keeps its limit is not held by it', [shapedTo(300, { policy: 'Keep' })], 0, [300], [undefined]],
    [
      'nothing is raised where the limit of as much as now is too high',
      [shapedTo(300, { policy: 'Multiplier', factor: 9 })],
      0,
      [100],
      [900],
    ],
  ])('%s', (_, parts, growth, requests, expected) => {
    const fitted = fitLimits(parts, room(growth));
    expect(values(fitted)).toEqual(requests);
    expect(limits(fitted)).toEqual(expected);
  });

  test('for any values and room, the limits grow by no more, and no request falls for it', () => {
    const raised = fc.tuple(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 100, max: 5000 }));
    fc.assert(
      fc.property(fc.array(raised, { minLength: 1, maxLength: 4 }), fc.nat(9000), (all, growth) => {
        const parts = all.map(([value, limit]) => shapedTo(value, ratio, limit));
        const fitted = fitLimits(parts, room(growth));
        const before = all.reduce((sum, [, limit]) => sum + limit, 0);
        const after = limits(fitted).reduce<number>((sum, limit) => sum + (limit ?? 0), 0);
        expect(after - before).toBeLessThanOrEqual(growth);
        values(fitted).forEach((value, index) => {
          const [wanted = 0] = all[index] ?? [];
          expect(value).toBeGreaterThanOrEqual(Math.min(wanted, 100));
          expect(value).toBeLessThanOrEqual(wanted);
        });
      }),
      { numRuns: 200 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Portion, raisedTo, splitTotal } from './split-containers.ts';

const portion = (name: string, current: number, change: Partial<Portion> = {}): Portion => ({
  name,
  usage: undefined,
  current,
  min: 10,
  max: Number.POSITIVE_INFINITY,
  ...change,
});
const split = (total: number, ...portions: Portion[]) => Object.fromEntries(splitTotal(total, portions));

describe('a total on containers', () => {
  test('by measured usage', () => {
    expect(split(800, portion('app', 500, { usage: 300 }), portion('proxy', 500, { usage: 100 }))).toEqual({
      app: 600,
      proxy: 200,
    });
  });

  test('not measured: as they are now', () => {
    expect(split(600, portion('app', 200), portion('proxy', 100))).toEqual({ app: 400, proxy: 200 });
  });

  test('an idle container keeps its minimum', () => {
    expect(split(800, portion('app', 500, { usage: 300 }), portion('proxy', 500, { usage: 0 }))).toEqual({
      app: 790,
      proxy: 10,
    });
  });

  test('what one may not have goes to the other', () => {
    expect(split(800, portion('app', 500, { usage: 300, max: 400 }), portion('proxy', 500, { usage: 100 }))).toEqual({
      app: 400,
      proxy: 400,
    });
  });

  test('minima that exceed the total are kept', () => {
    expect(split(100, portion('app', 500, { min: 80 }), portion('proxy', 500, { min: 90 }))).toEqual({
      app: 80,
      proxy: 90,
    });
  });

  test('mbcas bug 6: a total that did not change changes no container, whatever their usage', () => {
    expect(split(600, portion('app', 500, { usage: 1 }), portion('proxy', 100, { usage: 900 }))).toEqual({
      app: 500,
      proxy: 100,
    });
  });

  test('unless one of them is out of its bounds', () => {
    expect(split(600, portion('app', 500, { usage: 300, max: 400 }), portion('proxy', 100, { usage: 10 }))).toEqual({
      app: 400,
      proxy: 200,
    });
  });

  test('mbcas bug 6: for any containers the parts add up to the total, each within its bounds, and splitting again changes nothing', () => {
    const row = fc.record({
      usage: fc.integer({ min: 0, max: 900 }),
      current: fc.integer({ min: 0, max: 900 }),
      max: fc.integer({ min: 100, max: 900 }),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), fc.integer({ min: 60, max: 3000 }), (rows, total) => {
        const portions = rows.map(({ usage, current, max }, index) => portion(`c${index}`, current, { usage, max }));
        const parts = splitTotal(total, portions);
        const sum = [...parts.values()].reduce((all, part) => all + part, 0);
        expect(sum).toBe(
          Math.min(
            total,
            rows.reduce((all, { max }) => all + max, 0),
          ),
        );
        for (const { name, min, max } of portions) {
          expect(parts.get(name)).toBeGreaterThanOrEqual(min);
          expect(parts.get(name)).toBeLessThanOrEqual(max);
        }
        const again = splitTotal(
          sum,
          portions.map((each) => ({ ...each, current: parts.get(each.name) ?? 0 })),
        );
        expect(again).toEqual(parts);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('least parts', () => {
  const raised = (total: number, ...portions: Portion[]) =>
    raisedTo(50, total, portions).map(({ name, min }) => [name, min]);

  test('nobody above its most for the sake of tens', () => {
    const portions = [portion('a', 0), portion('b', 125, { min: 123, max: 125 })];
    expect(raisedTo(50, 400, portions, 10)).toMatchObject([{ min: 50 }, { min: 125 }]);
  });

  test.each<[string, number, readonly Portion[], readonly number[]]>([
    ['of all, where there is enough', 200, [portion('a', 0), portion('b', 0)], [50, 50]],
    ['who has more keeps it', 200, [portion('a', 0, { min: 120 }), portion('b', 0)], [120, 50]],
    ['what is left goes to the smallest', 150, [portion('a', 0, { min: 120 }), portion('b', 0)], [120, 30]],
    ['nobody above its most', 200, [portion('a', 0, { max: 20 }), portion('b', 0)], [20, 50]],
    ['where minima are more than there is they stay', 100, [portion('a', 0, { min: 120 }), portion('b', 0)], [120, 10]],
  ])('%s', (_name, total, portions, mins) => {
    expect(raised(total, ...portions)).toEqual(portions.map(({ name }, index) => [name, mins[index]]));
  });
});

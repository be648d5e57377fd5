import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNumberColumn, inOrderOfTime, partOf } from './usage-series.ts';

describe('usage series', () => {
  test('a column holds any number of values', () => {
    const column = createNumberColumn();
    for (let value = 0; value < 5000; value++) column.push(value);
    expect([...column.values()]).toEqual(Array.from({ length: 5000 }, (_, index) => index));
  });

  test('a part is of instants and usage alike', () => {
    const whole = { name: 'x', at: Float64Array.of(1, 2, 3), usage: Float64Array.of(10, 20, 30) };
    const part = { name: 'x', at: Float64Array.of(2, 3), usage: Float64Array.of(20, 30) };
    expect(partOf(whole, 1, 3)).toEqual(part);
    const replicas = Float64Array.of(0, 1, 0);
    expect(partOf({ ...whole, replicas }, 1, 3)).toEqual({ ...part, replicas: Float64Array.of(1, 0) });
  });

  test('for any samples, they come in order, each instant once, with what was told last', () => {
    const samples = fc.array(fc.tuple(fc.nat(20), fc.nat(1000)), { maxLength: 60 });
    fc.assert(
      fc.property(samples, (list) => {
        const [at, usage] = [list.map(([instant]) => instant), list.map(([, value]) => value)];
        const sorted = inOrderOfTime(Float64Array.from(at), Float64Array.from(usage));
        const last = [...new Map(list)].toSorted(([a], [b]) => a - b);
        expect([...sorted.at]).toEqual(last.map(([instant]) => instant));
        expect([...sorted.usage]).toEqual(last.map(([, value]) => value));
        expect(sorted.repeated).toBe(list.length - last.length);
        expect(sorted.wasSorted).toBe(at.every((instant, index) => instant >= (at[index - 1] ?? 0)));
      }),
      { numRuns: 150 },
    );
  });
});

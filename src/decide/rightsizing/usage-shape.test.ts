import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CpuHistory } from '../../model/usage-cpu.ts';
import { MemoryHistory, PEAK_SPAN_MILLIS } from '../../model/usage-memory.ts';
import { defaultPolicy } from './policy.ts';
import type { UsagePiece } from './usage-distribution.ts';
import { cpuPieces, memoryPieces, shapeOf, type UsageShape } from './usage-shape.ts';

const HOUR = 3_600_000;
const MIB = 1024 ** 2;
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const whole = ({ columns, beyond }: UsageShape): number => sum(columns) + beyond;
const known = (shape: UsageShape | undefined): UsageShape => {
  if (shape === undefined) throw new Error('nothing is known');
  return shape;
};

/** Pieces of any widths, one after the other, with any gaps. */
const anyPieces = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 0, max: 400 }),
      width: fc.integer({ min: 0, max: 300 }),
      weight: fc.integer({ min: 1, max: 1_000 }),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((parts) => {
    const total = sum(parts.map(({ weight }) => weight));
    let at = 0;
    return parts.map(({ gap, width, weight }): UsagePiece => {
      const low = at + gap;
      at = low + width;
      return { low, high: at, share: weight / total };
    });
  });

describe('the shape of usage', () => {
  test('is not there where nothing is known', () => {
    expect(shapeOf([], [100])).toBeUndefined();
  });

  test('has a column for what is used, at its place', () => {
    const pieces = [
      { low: 100, high: 100, share: 0.75 },
      { low: 400, high: 400, share: 0.25 },
    ];
    const { end, columns, beyond, median, p90, highest } = known(shapeOf(pieces, []));
    expect([median, p90, highest, beyond]).toEqual([100, 400, 400, 0]);
    expect(end).toBeGreaterThan(400);
    const filled = columns.flatMap((share, column) => (share > 0 ? [[share, column] as const] : []));
    expect(filled).toEqual([
      [0.75, Math.floor((100 * columns.length) / end)],
      [0.25, Math.floor((400 * columns.length) / end)],
    ]);
  });

  test('a piece that lies in several columns is shared out by how much of it lies in each', () => {
    const { columns } = known(shapeOf([{ low: 0, high: 1000, share: 1 }], []));
    const filled = columns.filter((share) => share > 0);
    expect(filled.length).toBe(39);
    for (const share of filled.slice(0, -1)) expect(share).toBeCloseTo(0.026, 6);
  });

  test.each([
    ['a request not far above is in the picture', [450], 468],
    ['one far above is not: usage would be a line at the left edge', [2_000], 104],
    ['each is judged by itself', [450, 2_000], 468],
  ])('%s', (_name, marks, end) => {
    expect(known(shapeOf([{ low: 20, high: 100, share: 1 }], marks)).end).toBeCloseTo(end, 0);
  });

  test('a rare burst leaves room for the rest, and is told of', () => {
    const usual = { low: 40, high: 60, share: 0.995 };
    const { end, beyond, highest, median } = known(shapeOf([usual, { low: 2_000, high: 2_100, share: 0.005 }], []));
    expect(end).toBeLessThan(100);
    expect(beyond).toBeCloseTo(0.005, 9);
    expect([highest, Math.round(median)]).toEqual([2_100, 50]);
  });

  test('for any usage and marks, nothing is lost, and no column is negative', () => {
    fc.assert(
      fc.property(anyPieces, fc.array(fc.integer({ min: 0, max: 50_000 }), { maxLength: 3 }), (pieces, marks) => {
        const shape = shapeOf(pieces, marks);
        fc.pre(pieces.some(({ high }) => high > 0));
        const { columns, beyond, median, p90, highest } = known(shape);
        expect(columns).toHaveLength(40);
        expect(Math.min(...columns, beyond)).toBeGreaterThanOrEqual(0);
        expect(whole(known(shape))).toBeCloseTo(1, 9);
        expect(median).toBeLessThanOrEqual(p90);
        expect(p90).toBeLessThanOrEqual(highest);
        expect(beyond).toBeLessThanOrEqual(0.01 + 1e-9);
      }),
      { numRuns: 200 },
    );
  });

  test('of usage that is nothing at all is all in the first column', () => {
    const shape = known(shapeOf([{ low: 0, high: 0, share: 1 }], [100]));
    expect([shape.columns[0], shape.end, whole(shape)]).toEqual([1, 1.04, 1]);
  });
});

describe('what the shape is made of', () => {
  const { target } = defaultPolicy.cpu;
  const histogram = { strategy: 'Histogram', percentile: 90, margin: 0.15, halfLifeMillis: 24 * HOUR } as const;

  test('CPU by cost: the last day or so; by a percentile: all there was, older samples fading', () => {
    const history = new CpuHistory({ usualHalfLifeMillis: 24 * HOUR });
    for (let hour = 0; hour < 48; hour++) history.add(hour < 6 ? 900 : 100, hour * HOUR);
    const top = (pieces: readonly UsagePiece[]): number => pieces.at(-1)?.high ?? 0;
    expect(top(cpuPieces(history, target))).toBeLessThan(120);
    const all = cpuPieces(history, histogram);
    expect(top(all)).toBeGreaterThan(900);
    expect(sum(all.map(({ share }) => share))).toBeCloseTo(1, 9);
    expect(all[0]?.share).toBeGreaterThan(0.9);
  });

  test.each([target, histogram])('CPU of which nothing is known has none: $strategy', (each) => {
    expect(cpuPieces(new CpuHistory({ usualHalfLifeMillis: HOUR }), each)).toEqual([]);
  });

  test('memory: the peaks the target looks back at, in ascending order', () => {
    const history = new MemoryHistory();
    const day = 4 * PEAK_SPAN_MILLIS;
    for (const [at, mib] of [
      [0, 900],
      [5 * day, 300],
      [6 * day, 200],
    ] as const)
      history.add(mib * MIB, at);
    const peak = { strategy: 'Peak', lookBackMillis: 3 * day, minRoom: 0.1, maxRoom: 0.25 } as const;
    expect(memoryPieces(history, peak, 6 * day)).toEqual([
      { low: 200 * MIB, high: 200 * MIB, share: 0.5 },
      { low: 300 * MIB, high: 300 * MIB, share: 0.5 },
    ]);
    expect(memoryPieces(history, { ...histogram, percentile: 90 }, 6 * day)).toHaveLength(3);
    expect(memoryPieces(new MemoryHistory(), peak, 0)).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { generateCpuSeries } from './generated-cpu.ts';
import { generateMemoryTraces } from './memory-trace.ts';

describe('generated CPU series', () => {
  test('are the same for the same seed, and others for another', () => {
    expect(generateCpuSeries(3)[0]).toEqual(generateCpuSeries(3)[0]);
    expect(generateCpuSeries(3)[0]).not.toEqual(generateCpuSeries(4)[0]);
  });

  test('are two of each shape, 14 days of five minutes, within the machine', () => {
    const series = generateCpuSeries(5);
    expect(series).toHaveLength(40);
    expect(new Set(series.map(({ name }) => name)).size).toBe(40);
    for (const { at, usage } of series) {
      expect([at.length, usage.length]).toEqual([14 * 288, 14 * 288]);
      for (const one of usage) if (!(one >= 1 && one <= 4000)) expect.fail(`usage ${one}`);
    }
  });
});

describe('generated memory traces', () => {
  const traces = generateMemoryTraces(6);
  const named = (name: string) => traces.find((trace) => trace.name === name)?.points ?? [];

  test('are of nine kinds, the same for the same seed', () => {
    expect(traces.map(({ name }) => name)).toEqual([
      'steady',
      'leak',
      'plateau',
      'start-up peak',
      'daily peak',
      'step',
      'one hot of ten',
      'gaps',
      'restarts',
    ]);
    expect(generateMemoryTraces(6)).toEqual(traces);
  });

  test('want whole bytes, and never nothing', () => {
    for (const { points } of traces)
      for (const { demand } of points)
        if (!demand.every((bytes) => Number.isInteger(bytes) && bytes > 0)) expect.fail(`${demand}`);
  });

  test('one of ten replicas wants far more than the others', () => {
    const demand = named('one hot of ten')[0]?.demand ?? [];
    expect(demand).toHaveLength(10);
    expect(Math.max(...demand)).toBe(demand[7]);
    expect(demand[7]).toBeGreaterThan(1.9 * (demand[0] ?? 0));
  });

  test('a gap begins after the first day and hides nearly half of each', () => {
    const hidden = named('gaps').filter(({ isSeen }) => !isSeen);
    expect(hidden.length / named('gaps').length).toBeCloseTo(0.36, 2);
    expect(hidden[0]?.at).toBeGreaterThan(86_400_000);
  });

  test('a leak is back at its beginning after each rollout', () => {
    const points = named('leak');
    const [last, first] = [points[3 * 288 - 1]?.demand[0] ?? 0, points[3 * 288]?.demand[0] ?? 0];
    expect(last).toBeGreaterThan(1.2 * first);
    expect(first).toBe(points[0]?.demand[0]);
  });
});

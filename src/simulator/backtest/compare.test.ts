/** The bars of the engine: on recordings of real machines, on halves of them, and on series made up from other seeds. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { compareCpu } from './compare.ts';
import { compareMemory } from './compare-memory.ts';
import { cpuStrategies, VPA_NAME } from './cpu-strategies.ts';
import type { PooledFigures } from './figures.ts';
import { generateCpuSeries } from './generated-cpu.ts';
import { generateMemoryTraces } from './memory-trace.ts';
import { parseCpuCsv, type UsageSeries } from './usage-series.ts';

const folder = resolve(import.meta.dirname, '../../../test/fixtures/nab');
const recorded = readdirSync(folder)
  .filter((file) => file.endsWith('.csv.gz'))
  .map((file) => parseCpuCsv(file, gunzipSync(readFileSync(join(folder, file))).toString('utf8'), 4000));

const part = (from: number, to: number): UsageSeries[] =>
  recorded.map(({ name, points }) => ({
    name,
    points: points.slice(Math.floor(from * points.length), Math.floor(to * points.length)),
  }));

function oursAndVpa(series: readonly UsageSeries[]): { readonly ours: PooledFigures; readonly vpa: PooledFigures } {
  const duel = cpuStrategies.filter(({ name }) => ['stowage', VPA_NAME].includes(name));
  const [ours, vpa] = compareCpu(series, duel).map(({ pooled }) => pooled);
  if (ours === undefined || vpa === undefined) throw new Error('both strategies are compared');
  return { ours, vpa };
}

describe('CPU, against VPA-like', () => {
  test('recordings: no more under-provisioned, a tenth less slack, half the changes', () => {
    const { ours, vpa } = oursAndVpa(recorded);
    expect(ours.underProvisioned).toBeLessThanOrEqual(vpa.underProvisioned);
    expect(ours.slack).toBeLessThanOrEqual(0.9 * vpa.slack);
    expect(ours.meanSlack).toBeLessThanOrEqual(vpa.meanSlack);
    expect(ours.changesPerDay).toBeLessThanOrEqual(0.5 * vpa.changesPerDay);
  });

  test.each([
    ['earlier', 0, 0.5],
    ['later', 0.5, 1],
  ])('the %s half of the recordings alone: as good, within what six judged days can tell', (_name, from, to) => {
    const { ours, vpa } = oursAndVpa(part(from, to));
    expect(ours.underProvisioned).toBeLessThanOrEqual(1.05 * vpa.underProvisioned);
    expect(ours.slack).toBeLessThanOrEqual(0.9 * vpa.slack);
    expect(ours.meanSlack).toBeLessThanOrEqual(vpa.meanSlack);
    expect(ours.changesPerDay).toBeLessThanOrEqual(0.5 * vpa.changesPerDay);
  });

  test('series made up from seeds that nothing was chosen by: no worse in anything, better in slack', () => {
    const { ours, vpa } = oursAndVpa([101, 102].flatMap(generateCpuSeries));
    expect(ours.underProvisioned).toBeLessThanOrEqual(vpa.underProvisioned);
    expect(ours.slack).toBeLessThan(vpa.slack);
    expect(ours.meanSlack).toBeLessThan(vpa.meanSlack);
    expect(ours.changesPerDay).toBeLessThanOrEqual(vpa.changesPerDay);
  });

  test('each strategy tells its figures for each series', () => {
    const [first] = compareCpu(recorded, cpuStrategies.slice(0, 1));
    expect(first?.perSeries.map(({ series }) => series)).toEqual(recorded.map(({ name }) => name));
    expect(first?.pooled.series).toBe(7);
  });
});

describe('memory, against VPA-like', () => {
  const comparisons = compareMemory([11, 12, 13, 14, 15, 16, 17, 18]);
  const of = (trace: string) => {
    const [ours, vpa] = comparisons.find((comparison) => comparison.trace === trace)?.strategies ?? [];
    if (ours === undefined || vpa === undefined) throw new Error(`no trace ${trace}`);
    return { ours, vpa };
  };
  const scenarios = generateMemoryTraces(11).map(({ name }) => name);

  test.each(scenarios)('%s: no more kills, and after a kill the next value suffices', (trace) => {
    const { ours, vpa } = of(trace);
    expect(ours.ooms).toBeLessThanOrEqual(vpa.ooms);
    expect(ours.longestStreak).toBeLessThanOrEqual(1);
  });

  test.each(scenarios.filter((trace) => trace !== 'one hot of ten'))('%s: at its slack or less', (trace) => {
    const { ours, vpa } = of(trace);
    expect(ours.slack).toBeLessThanOrEqual(vpa.slack);
  });

  test('one hot of ten: VPA-like kills the hot one without end, ours never', () => {
    const { ours, vpa } = of('one hot of ten');
    expect(ours.ooms).toBe(0);
    expect(vpa.longestStreak).toBeGreaterThan(1000);
  });
});

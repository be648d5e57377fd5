/** The bars of the engine: on recordings of real machines, on halves of them, and on series made up from other seeds. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { compareCpu } from './compare.ts';
import { compareMemory } from './compare-memory.ts';
import { cpuStrategies, VPA_NAME } from './cpu-strategies.ts';
import { createCsvReader } from './csv-series.ts';
import type { PooledFigures } from './figures.ts';
import { generateCpuSeries } from './generated-cpu.ts';
import { generateMemoryTraces } from './memory-trace.ts';
import { partOf, type UsageSeries } from './usage-series.ts';

const folder = resolve(import.meta.dirname, '../../../test/fixtures/nab');
const recorded = readdirSync(folder)
  .filter((file) => file.endsWith('.csv.gz'))
  .map((file) => {
    const reader = createCsvReader(file, 4000);
    reader.push(gunzipSync(readFileSync(join(folder, file))).toString('utf8'));
    return reader.end().series;
  });

const part = (from: number, to: number): UsageSeries[] =>
  recorded.map((one) => partOf(one, Math.floor(from * one.at.length), Math.floor(to * one.at.length)));

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

  test('series made up from seeds that nothing was chosen by: as good, within what 80 series can tell', () => {
    const { ours, vpa } = oursAndVpa([201, 202].flatMap(generateCpuSeries));
    expect(ours.underProvisioned).toBeLessThanOrEqual(vpa.underProvisioned);
    expect(ours.slack).toBeLessThanOrEqual(0.95 * vpa.slack);
    expect(ours.meanSlack).toBeLessThanOrEqual(vpa.meanSlack);
    expect(ours.changesPerDay).toBeLessThanOrEqual(0.5 * vpa.changesPerDay);
  });

  test('each strategy tells its figures for each series', () => {
    const [first] = compareCpu(recorded, cpuStrategies.slice(0, 1));
    expect(first?.perSeries.map(({ series }) => series)).toEqual(recorded.map(({ name }) => name));
    expect(first?.pooled.series).toBe(7);
  });
});

describe('memory, against VPA-like', () => {
  const seeds = [11, 12, 13, 14, 15, 16, 17, 18];
  const comparisons = compareMemory(seeds);
  const of = (trace: string) => {
    const { strategies, leastSlack = 0 } = comparisons.find((comparison) => comparison.trace === trace) ?? {};
    const named = (name: string) => strategies?.find(({ strategy }) => strategy === name);
    const [ours, vpa] = [named('stowage'), named('vpa-like')];
    if (ours === undefined || vpa === undefined) throw new Error(`no trace ${trace}`);
    return { ours, vpa, hottest: named('vpa, hottest'), perReplica: named('stowage, per replica'), leastSlack };
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

  test('one hot of ten: VPA-like kills the hot one without end, ours never, a tenth above the least that does not', () => {
    const { ours, vpa, leastSlack } = of('one hot of ten');
    expect(ours.ooms).toBe(0);
    expect(vpa.longestStreak).toBeGreaterThan(1000);
    // Both keep the same in use, so what is requested goes by the idle rest.
    expect((1 - leastSlack) / (1 - ours.slack)).toBeLessThan(1.12);
  });

  test('one hot of ten: VPA-like that goes by the hottest replica alone kills none either, and leaves more idle', () => {
    const { ours, hottest } = of('one hot of ten');
    expect(hottest?.ooms).toBe(0);
    expect(ours.slack).toBeLessThan(hottest?.slack ?? 0);
  });

  test('one hot of ten, sized per replica: no kill at less slack than VPA-like, which no single value can do', () => {
    const { perReplica, vpa, leastSlack } = of('one hot of ten');
    expect(perReplica?.ooms).toBe(0);
    expect(perReplica?.slack).toBeLessThan(vpa.slack);
    expect(perReplica?.slack).toBeLessThan(leastSlack / 4);
    expect(perReplica?.changesPerDay).toBeLessThan(1);
  });

  test.each(scenarios.filter((trace) => trace !== 'one hot of ten'))(
    '%s: a single replica has no such row',
    (trace) => {
      expect(of(trace).perReplica).toBeUndefined();
    },
  );
});
